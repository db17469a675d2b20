import { CODES, formatTime } from '@perennial/wire';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import type { Clock } from '../clock.js';
import { type Notice, NoticeRefused, type RawNotice } from '../gateways/gateway.js';
import type { LargeBodies } from './large-bodies.js';
import { type Refusal, refusalOf, sendAnswer } from './respond.js';

export interface NoticeDeps {
  readonly clock: Clock;
  /** Throws NoticeRefused for what does not come from the institution of that payment channel, or says nothing. */
  readonly verify: (paymentChannelCode: string, notice: RawNotice) => Promise<Notice>;
  readonly accept: (paymentChannelCode: string, notice: Notice) => Promise<void>;
}

export interface NoticeSurroundings {
  readonly log: Logger;
  readonly bodies: LargeBodies;
  readonly refuse: (reply: FastifyReply, refusal: Refusal) => FastifyReply;
}

const MAX_NOTICE_BYTES = 65_536;

/**
 * Where institutions tell what became of a debit. Signed by them, idempotent, answered only when it is written down. To a
 * bridge HTTP 200 means that the notice is kept, so no refusal has that status here, whatever its code is elsewhere.
 */
export function noticeRoutes(
  app: FastifyInstance,
  { clock, verify, accept }: NoticeDeps,
  { log, bodies, refuse }: NoticeSurroundings,
): void {
  app.post<{ Params: { code: string } }>(
    '/gateway/v1/notices/:code',
    {
      bodyLimit: MAX_NOTICE_BYTES,
      errorHandler(error, request, reply) {
        const refusal = noticeRefusal(error);
        // A fault is nothing special here.
        if (!refusal) throw error;
        const { code: paymentChannelCode } = request.params;
        log.warn({ requestId: request.id, paymentChannelCode, why: refusal.why }, 'a notice was refused');
        void refuse(reply, refusal);
      },
    },
    async (request, reply) => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join() : value]),
      );
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const [path = ''] = (request.raw.url ?? '').split('?');
      const notice = { path, headers, body, now: clock.now() };
      try {
        await accept(request.params.code, await verify(request.params.code, notice));
      } finally {
        bodies.release(body);
      }
      return sendAnswer(reply, 200, { ...CODES.SUCCESS, data: 'null' }, formatTime(clock.now()));
    },
  );
}

/** `why` is for the log; a stranger hears no more than that the signature does not match. */
function noticeRefusal(error: unknown): (Refusal & { readonly why: string }) | undefined {
  if (error instanceof NoticeRefused) {
    const { message: why } = error;
    const told = { headers: {}, isFault: false, why };
    return error.kind === 'unusable'
      ? { ...told, result: CODES.PARAM_INVALID, http: 400, message: why }
      : { ...told, result: CODES.SIGNATURE_INVALID, message: CODES.SIGNATURE_INVALID.message };
  }
  const refusal = refusalOf(error);
  if (refusal.result.http !== 200) return undefined;
  const isTooLarge = refusal.result === CODES.BODY_TOO_LARGE;
  const message = isTooLarge ? 'notice is larger than 64 KB' : refusal.message;
  return { ...refusal, http: isTooLarge ? 413 : 400, message, why: message };
}
