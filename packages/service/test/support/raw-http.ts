import net from 'node:net';

export interface RawReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly code: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
  readonly envelope: any;
}

/** Opens a TCP connection without an HTTP client: the written bytes are sent unchanged. */
export function rawConnection(baseUrl: string) {
  const { hostname, port } = new URL(baseUrl);
  const socket = net.connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const chunks: Buffer[] = [];
  const text = () => Buffer.concat(chunks).toString();
  const ended = new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('end', resolve);
    socket.on('close', () => resolve());
  });
  // Prevents an unhandled rejection in tests that do not await `ended`.
  ended.catch(() => undefined);
  socket.on('data', (chunk) => chunks.push(chunk));
  return {
    socket,
    write: (bytes: string | Buffer) => void socket.write(bytes),
    text,
    /** Returns all responses until the service closes the connection. Throws on a reset. */
    async untilClosed(): Promise<RawReply[]> {
      await ended;
      socket.destroy();
      return parseReplies(text());
    },
    /** Waits for `count` responses on a connection that stays open. */
    async replies(count: number): Promise<RawReply[]> {
      while (parseReplies(text()).length < count) {
        await Promise.race([
          new Promise((resolve) => socket.once('data', resolve)),
          ended.then(() => Promise.reject(new Error(`closed after: ${text()}`))),
        ]);
      }
      return parseReplies(text());
    },
    close: () => void socket.destroy(),
  };
}

/** Sends the bytes and waits until the service closes the connection. */
export async function rawExchange(baseUrl: string, ...parts: readonly (string | Buffer)[]): Promise<RawReply[]> {
  const raw = rawConnection(baseUrl);
  for (const part of parts) raw.write(part);
  return raw.untilClosed();
}

/** Like `rawExchange`, for a client that sends everything before it reads. */
export async function rawExchangeUnread(baseUrl: string, bytes: Buffer): Promise<RawReply[]> {
  const raw = rawConnection(baseUrl);
  raw.socket.pause();
  await new Promise<void>((resolve) => {
    raw.socket.write(bytes, () => resolve());
  });
  raw.socket.resume();
  return raw.untilClosed();
}

/** Returns a request as text. An array as a value repeats the header; header values are sent as latin1. */
export function requestBytes(
  path: string,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  body: string | Buffer = '',
  method = 'POST',
): Buffer {
  const lines = Object.entries({ Host: 'test', ...headers }).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one) => `${name}: ${one}`),
  );
  const head = Buffer.from(`${[`${method} ${path} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`, 'latin1');
  return Buffer.concat([head, Buffer.from(body)]);
}

function parseReplies(text: string): RawReply[] {
  const replies: RawReply[] = [];
  for (let rest = text; rest !== ''; ) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) break;
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const length = Number(headers['content-length'] ?? 0);
    const body = Buffer.from(rest.slice(end + 4));
    if (body.length < length) break;
    const envelope = length === 0 ? undefined : JSON.parse(body.subarray(0, length).toString());
    replies.push({ status: Number(first.split(' ')[1]), headers, code: envelope?.code, envelope });
    rest = body.subarray(length).toString();
  }
  return replies;
}
