import { type ByteReader, readAtMost } from '../bytes.js';
import { createReceive, MOST_BYTES, REPLY_HEADERS, type Received, type ReceiverOptions } from './receive.js';

/** The part of Request that this receiver uses. */
export interface FetchRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  readonly bodyUsed?: boolean;
  readonly body: { getReader(): ByteReader } | null;
}

export type FetchReceiver = (request: FetchRequest) => Promise<Response>;

/** Creates a receiver for servers that map a Request to a Response: Deno, Bun, workers, Hono, Next.js. */
export function createFetchReceiver<AesKey extends string | undefined = undefined>(
  options: ReceiverOptions<AesKey>,
): FetchReceiver {
  const receive = createReceive(options);
  return async (request) => {
    const { method, headers } = request;
    let rawBody: Received['rawBody'];
    try {
      rawBody = await readBody(request);
    } catch {
      // The sender broke off the request.
      return new Response(null, { status: 400 });
    }
    const { status, body } = await receive({ method, url: new URL(request.url).pathname, headers, rawBody });
    return new Response(body, { status, headers: REPLY_HEADERS });
  };
}

async function readBody({ headers, body, bodyUsed }: FetchRequest): Promise<Received['rawBody']> {
  if (Number(headers.get('content-length') ?? 0) > MOST_BYTES) return undefined;
  if (bodyUsed) return null;
  return body === null ? new Uint8Array() : readAtMost(body.getReader(), MOST_BYTES);
}
