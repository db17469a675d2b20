import { joinBytes } from './node.js';
import { createReceive, MOST_BYTES, REPLY_HEADERS, type ReceiverOptions } from './receive.js';

/** As much of a Request as is used. */
export interface FetchRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  readonly body: { getReader(): ByteReader } | null;
}

interface ByteReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<unknown>;
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

/** Piece by piece, so that a body without an end is not read whole. */
async function readBody({ headers, body }: FetchRequest): Promise<Uint8Array | undefined> {
  if (Number(headers.get('content-length') ?? 0) > MOST_BYTES) return undefined;
  const reader = body?.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (let step = await reader?.read(); step?.value !== undefined && !step.done; step = await reader?.read()) {
    length += step.value.length;
    if (length > MOST_BYTES) {
      await reader?.cancel();
      return undefined;
    }
    chunks.push(step.value);
  }
  return joinBytes(chunks, length);
}
