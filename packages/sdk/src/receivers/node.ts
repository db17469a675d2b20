import { joinBytes } from '../bytes.js';
import { createReceive, MOST_BYTES, REPLY_HEADERS, type Received, type ReceiverOptions } from './receive.js';

/** As much of node:http as is used, and what frameworks add to it. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  readonly readableEnded?: boolean;
  /** Express: the URL before a router has taken its part off. */
  readonly originalUrl?: string;
  /** Whatever was parsed already; bytes with express.raw(). */
  readonly body?: unknown;
  /** Where a platform keeps the bytes. */
  readonly rawBody?: unknown;
}

export interface NodeResponse {
  readonly headersSent?: boolean;
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(text: string): unknown;
}

export type NodeReceiver = (request: NodeRequest, response: NodeResponse) => Promise<void>;

/** For `http.createServer(receiver)`, or one path of a server of your own. */
export function createNodeReceiver<AesKey extends string | undefined = undefined>(
  options: ReceiverOptions<AesKey>,
): NodeReceiver {
  const receive = createReceive(options);
  return async (request, response) => {
    const { method, headers } = request;
    let rawBody: Received['rawBody'];
    try {
      rawBody = await readBody(request);
    } catch {
      // It was broken off: there is nobody to answer, and nothing has come.
      return;
    }
    const { status, body } = await receive({ method, url: request.originalUrl ?? request.url, headers, rawBody });
    // Something else has given up waiting, and to answer twice would end the program.
    if (response.headersSent) return;
    // What was not read of a body that is too long stands in the way of another request.
    const closing = rawBody === undefined ? { Connection: 'close' } : {};
    response.writeHead(status, { ...REPLY_HEADERS, ...closing });
    response.end(body);
  };
}

async function readBody(request: NodeRequest): Promise<Received['rawBody']> {
  for (const given of [request.rawBody, request.body]) if (isRaw(given)) return given;
  // Something has read it, and left an object: verifyWebhook says what to do about that.
  if (request.readableEnded) return (request.body ?? null) as Received['rawBody'];
  return readStream(request);
}

const isRaw = (value: unknown): value is Uint8Array | string => typeof value === 'string' || ArrayBuffer.isView(value);

/** Not by `for await`, which would end the connection where it stops. */
async function readStream(request: AsyncIterable<Uint8Array>): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const iterator = request[Symbol.asyncIterator]();
  for (let step = await iterator.next(); !step.done; step = await iterator.next()) {
    length += step.value.length;
    if (length > MOST_BYTES) return undefined;
    chunks.push(step.value);
  }
  return joinBytes(chunks, length);
}
