import { joinBytes } from '../bytes.js';
import { createReceive, MOST_BYTES, REPLY_HEADERS, type Received, type ReceiverOptions } from './receive.js';

/** The part of node:http's request that this receiver uses, and the fields that frameworks add to it. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
  readonly readableEnded?: boolean;
  /** Set by Express: the URL before a router removes its prefix. */
  readonly originalUrl?: string;
  /** Set by frameworks: the parsed body, or its bytes after express.raw(). */
  readonly body?: unknown;
  /** Set by platforms that keep the raw bytes beside the parsed body. */
  readonly rawBody?: unknown;
}

export interface NodeResponse {
  readonly headersSent?: boolean;
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(text: string): unknown;
}

export type NodeReceiver = (request: NodeRequest, response: NodeResponse) => Promise<void>;

/** Creates a receiver for `http.createServer(receiver)` or for one path of your own server. */
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
      // The sender broke off the request, so nobody waits for a response.
      return;
    }
    const { status, body } = await receive({ method, url: request.originalUrl ?? request.url, headers, rawBody });
    // Another handler has already answered. A second response would crash the process.
    if (response.headersSent) return;
    // Closes the connection after an oversized body, because its unread rest would block the next request.
    const closing = rawBody === undefined ? { Connection: 'close' } : {};
    response.writeHead(status, { ...REPLY_HEADERS, ...closing });
    response.end(body);
  };
}

async function readBody(request: NodeRequest): Promise<Received['rawBody']> {
  for (const given of [request.rawBody, request.body]) if (isRaw(given)) return given;
  // A framework has already parsed the body. verifyWebhook then throws an error that says what to do.
  if (request.readableEnded) return (request.body ?? null) as Received['rawBody'];
  return readStream(request);
}

const isRaw = (value: unknown): value is Uint8Array | string => typeof value === 'string' || ArrayBuffer.isView(value);

/** Reads the body. Does not use `for await`, which destroys the connection if it stops early. */
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
