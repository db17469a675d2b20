import { createReceive, MOST_BYTES, REPLY_HEADERS, type ReceiverOptions } from './receive.js';

/** The part of fastify that this receiver uses. */
export interface FastifyInstanceLike {
  addContentTypeParser(
    contentType: string,
    options: { parseAs: 'buffer'; bodyLimit: number },
    parser: (request: unknown, body: Uint8Array, done: (error: null, body: Uint8Array) => void) => void,
  ): unknown;
  post(url: string, handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>): unknown;
}

export interface FastifyRequestLike {
  readonly method: string;
  readonly originalUrl: string;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly body: unknown;
}

export interface FastifyReplyLike {
  code(status: number): FastifyReplyLike;
  headers(values: Record<string, string>): FastifyReplyLike;
  send(body: string): unknown;
}

export interface FastifyReceiverOptions<AesKey extends string | undefined = string | undefined>
  extends ReceiverOptions<AesKey> {
  readonly url: string;
}

export type FastifyReceiver = (fastify: FastifyInstanceLike) => Promise<void>;

/** Creates a plugin for `app.register(receiver)`. JSON bodies stay unparsed only on the plugin's own route. */
export function createFastifyReceiver<AesKey extends string | undefined = undefined>(
  options: FastifyReceiverOptions<AesKey>,
): FastifyReceiver {
  const receive = createReceive(options);
  return async (fastify) => {
    const limits = { parseAs: 'buffer', bodyLimit: MOST_BYTES } as const;
    fastify.addContentTypeParser('application/json', limits, (_request, bytes, done) => done(null, bytes));
    fastify.post(options.url, async ({ method, originalUrl, headers, body }, reply) => {
      const answer = await receive({
        method,
        url: originalUrl,
        headers,
        rawBody: (body ?? new Uint8Array()) as Uint8Array,
      });
      return reply.code(answer.status).headers(REPLY_HEADERS).send(answer.body);
    });
  };
}
