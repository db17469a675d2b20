import { MOST_ANSWER_BYTES } from './schedule.js';

const MOST_HEAD_BYTES = 16 * 1024;

/** The answer to a push. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  /** Whether the connection can be used for another push. */
  readonly keepAlive: boolean;
}

export class BadAnswer extends Error {}

type Framing =
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  | { readonly kind: 'until-close' };

interface Head {
  readonly status: number;
  readonly framing: Framing;
  readonly keepAlive: boolean;
  readonly bodyAt: number;
}

/**
 * Reads one HTTP/1.1 answer from the bytes that have come so far. By hand, since it is all that a push needs, and the
 * general client takes more than twice the CPU (docs/decisions/0021-webhooks.md has the figures). Whatever is not
 * well-formed is a BadAnswer, and more than 64 KB of a body are not read.
 */
export function readAnswer(bytes: Buffer, ended: boolean): Answer | undefined {
  let from = 0;
  for (;;) {
    const head = readHead(bytes, from);
    if (!head) {
      if (bytes.length - from > MOST_HEAD_BYTES) throw new BadAnswer('the headers are too long');
      if (ended) throw new BadAnswer('the answer ends in its headers');
      return undefined;
    }
    // Interim answers come before the one that counts.
    if (head.status >= 200) return readBody(bytes, head, ended);
    if (head.status === 101) throw new BadAnswer('the protocol was switched');
    from = head.bodyAt;
  }
}

function readHead(bytes: Buffer, from: number): Head | undefined {
  const end = bytes.indexOf('\r\n\r\n', from, 'latin1');
  if (end < 0) return undefined;
  const [statusLine = '', ...lines] = bytes.toString('latin1', from, end).split('\r\n');
  const status = /^HTTP\/1\.([01]) (\d{3})(?: |$)/.exec(statusLine);
  if (!status) throw new BadAnswer('it is not HTTP/1.1');
  const code = Number(status[2]);
  let length: number | undefined;
  let chunked = false;
  let keepAlive = status[1] === '1';
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon <= 0) throw new BadAnswer('a header is not well-formed');
    const value = line.slice(colon + 1).trim();
    switch (line.slice(0, colon).toLowerCase()) {
      case 'content-length':
        if (!/^\d{1,15}$/.test(value) || (length !== undefined && length !== Number(value))) {
          throw new BadAnswer('Content-Length is not a number');
        }
        length = Number(value);
        break;
      case 'transfer-encoding':
        if (value.toLowerCase() !== 'chunked') throw new BadAnswer('an unknown Transfer-Encoding');
        chunked = true;
        break;
      case 'connection':
        if (/\bclose\b/i.test(value)) keepAlive = false;
        break;
    }
  }
  const empty = code < 200 || code === 204 || code === 304;
  const framing: Framing = empty
    ? { kind: 'length', length: 0 }
    : chunked
      ? { kind: 'chunked' }
      : length === undefined
        ? { kind: 'until-close' }
        : { kind: 'length', length };
  return { status: code, framing, keepAlive: keepAlive && framing.kind !== 'until-close', bodyAt: end + 4 };
}

function readBody(bytes: Buffer, { status, framing, keepAlive, bodyAt }: Head, ended: boolean): Answer | undefined {
  const rest = bytes.length - bodyAt;
  const cut = (end: number): Answer => ({
    status,
    body: bytes.toString('utf8', bodyAt, Math.min(end, bodyAt + MOST_ANSWER_BYTES)),
    keepAlive: false,
  });
  if (framing.kind === 'length') {
    if (rest >= framing.length && framing.length <= MOST_ANSWER_BYTES) {
      const extra = rest > framing.length;
      return { ...cut(bodyAt + framing.length), keepAlive: keepAlive && !extra };
    }
  } else if (framing.kind === 'chunked') {
    const body = readChunks(bytes, bodyAt);
    if (body) return { status, body: body.text, keepAlive: keepAlive && body.end === bytes.length };
  } else if (ended) {
    return cut(bytes.length);
  }
  if (rest >= MOST_ANSWER_BYTES) return cut(bytes.length);
  if (ended) throw new BadAnswer('the answer ends too early');
  return undefined;
}

function readChunks(bytes: Buffer, from: number): { text: string; end: number } | undefined {
  const parts: Buffer[] = [];
  let at = from;
  for (;;) {
    const line = bytes.indexOf('\r\n', at, 'latin1');
    if (line < 0) {
      if (bytes.length - at > 1024) throw new BadAnswer('a chunk has no size');
      return undefined;
    }
    const size = /^([0-9a-f]{1,8})(?:[ \t]*;|[ \t]*$)/i.exec(bytes.toString('latin1', at, line))?.[1];
    if (size === undefined) throw new BadAnswer('a chunk has no size');
    const length = Number.parseInt(size, 16);
    const data = line + 2;
    if (length === 0) {
      // Trailers end with an empty line.
      const end =
        bytes.toString('latin1', data, data + 2) === '\r\n' ? data + 2 : bytes.indexOf('\r\n\r\n', data, 'latin1') + 4;
      return end < data + 2 ? undefined : { text: Buffer.concat(parts).toString('utf8'), end };
    }
    if (bytes.length < data + length + 2) return undefined;
    parts.push(bytes.subarray(data, data + length));
    at = data + length + 2;
  }
}

/** Taken: HTTP 200 and a JSON object whose `code` is the text `0`. */
export function isAccepted({ status, body }: Pick<Answer, 'status' | 'body'>): boolean {
  if (status !== 200) return false;
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null && 'code' in parsed && parsed.code === '0';
  } catch {
    return false;
  }
}
