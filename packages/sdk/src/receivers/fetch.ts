import { createReceive, MOST_BYTES, REPLY_HEADERS, type ReceiverOptions } from './receive.js';

/** As much of a Request as is used. */
export interface FetchRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  arrayBuffer(): Promise<ArrayBuffer>;
}

export type FetchReceiver = (request: FetchRequest) => Promise<Response>;

/** For servers that are a function from Request to Response: Deno, Bun, workers, Hono, Next.js. */
export function createFetchReceiver<AesKey extends string | undefined = undefined>(
  options: ReceiverOptions<AesKey>,
): FetchReceiver {
  const receive = createReceive(options);
  return async (request) => {
    const { method, headers } = request;
    const rawBody = await readBody(request);
    const { status, body } = await receive({ method, url: new URL(request.url).pathname, headers, rawBody });
    return new Response(body, { status, headers: REPLY_HEADERS });
  };
}

async function readBody(request: FetchRequest): Promise<ArrayBuffer | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > MOST_BYTES) return undefined;
  const bytes = await request.arrayBuffer();
  return bytes.byteLength > MOST_BYTES ? undefined : bytes;
}
