import { CODES, formatTime } from '@perennial/wire';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { type Notice, NoticeRefused } from '../gateways/gateway.js';
import type { NoticeVerifier } from '../gateways/notice-verifier.js';
import type { Clock } from '../platform/clock.js';
import { addressGroup, type MinuteLimit } from './answers/minute-limit.js';
import { NodeClockWrong, NodeReadsOnly, type Refusal, sendAnswer, toRefusal } from './answers/respond.js';
import type { LargeBodies } from './limits/large-bodies.js';
import { createThrottledLines } from './limits/throttled-lines.js';
import { KNOWN_HEADER, PASSED_HEADER, type PassNotice } from './pass-notice.js';
import type { Refuse } from './refusals.js';
import { createBodyReader } from './requests/read-body.js';

export interface NoticeRouteDeps {
  readonly clock: Clock;
  readonly verifier: NoticeVerifier;
  /** Returns whether the notice is about something known. */
  readonly accept: (paymentChannelCode: string, notice: Notice, isKnownElsewhere: boolean) => Promise<boolean>;
  /** Passes notices to other cells. */
  readonly passOn: PassNotice;
  /** Limits notices that the institution has not signed. */
  readonly limit: MinuteLimit;
  readonly bodies: LargeBodies;
}

export interface NoticeRouteContext {
  readonly log: Logger;
  readonly refuse: Refuse;
  /** True if this node refuses notices. Institutions send them again. */
  readonly readsOnly: boolean;
  readonly isClockWrong: () => boolean;
}

const MAX_NOTICE_BYTES = 65_536;

/**
 * Accepts signed, idempotent notices from institutions about the result of a debit or the end of an agreement. Answers
 * after a notice is stored. A refusal never has status 200, because 200 tells a bridge that the notice is stored. Needs
 * a scope of its own, because it reads bodies itself.
 */
export function addNoticeRoutes(
  scope: FastifyInstance,
  { clock, verifier, accept, passOn, limit, bodies }: NoticeRouteDeps,
  { log, refuse, readsOnly, isClockWrong }: NoticeRouteContext,
): void {
  const lines = createThrottledLines();
  scope.addHook('onClose', async () => lines.flush());
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    ['application/json', '*'],
    createBodyReader(bodies, ({ ip }) => addressGroup(ip)),
  );

  /**
   * Counts refusals by address, and also by payment channel if this node knows it: institutions behind one proxy then
   * do not limit each other.
   */
  const senderOf = (ip: string, code: string) =>
    verifier.knows(code) ? `${addressGroup(ip)} ${code}` : addressGroup(ip);

  scope.post<{ Params: { code: string } }>(
    '/gateway/v1/notices/:code',
    {
      bodyLimit: MAX_NOTICE_BYTES,
      onRequest: async ({ ip, params }) => {
        if (readsOnly) throw new NodeReadsOnly();
        if (isClockWrong()) throw new NodeClockWrong();
        limit.check(senderOf(ip, params.code));
      },
      errorHandler(error, request, reply) {
        const refusal = toNoticeRefusal(error);
        // Faults and rate limits are answered like those of other routes.
        if (!refusal) throw error;
        const { ip, id: requestId, params } = request;
        const where = { paymentChannelCode: params.code, address: ip };
        const write = () => log.warn({ requestId, ...where, why: refusal.reason }, 'a notice was refused');
        if (refusal.isTrusted) write();
        else {
          const sender = senderOf(ip, params.code);
          limit.count(sender);
          lines.write(sender, write, (heldBack) => log.warn({ ...where, heldBack }, 'more notices were refused'));
        }
        void refuse(reply, refusal);
      },
    },
    async (request, reply) => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join() : value]),
      );
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const [path = ''] = (request.raw.url ?? '').split('?');
      try {
        const raw = { path, headers, body, now: clock.now() };
        const notice = await verifier.verify(request.params.code, raw);
        const { isOurs, isKnownElsewhere } = await passOn(notice, raw);
        const isKnown = isOurs && (await accept(request.params.code, notice, isKnownElsewhere));
        if (PASSED_HEADER in headers) void reply.header(KNOWN_HEADER, isKnown);
      } finally {
        bodies.release(body);
      }
      return sendAnswer(reply, 200, { ...CODES.SUCCESS, data: 'null' }, formatTime(clock.now()));
    },
  );
}

interface NoticeRefusal extends Refusal {
  /** Reason for the log. The answer to a notice with a wrong signature does not contain the reason. */
  readonly reason: string;
  /** True if the institution signed the notice. The notice then does not count for the limit. */
  readonly isTrusted: boolean;
}

function toNoticeRefusal(error: unknown): NoticeRefusal | undefined {
  if (error instanceof NoticeRefused) {
    const { message: reason } = error;
    const told = { headers: {}, isFault: false, reason };
    return error.kind === 'unusable'
      ? { ...told, isTrusted: true, result: CODES.PARAM_INVALID, http: 400, message: reason }
      : { ...told, isTrusted: false, result: CODES.SIGNATURE_INVALID, message: CODES.SIGNATURE_INVALID.message };
  }
  const refusal = toRefusal(error);
  if (refusal.result.http !== 200) return undefined;
  const isTooLarge = refusal.result === CODES.BODY_TOO_LARGE;
  const message = isTooLarge ? 'notice is larger than 64 KB' : refusal.message;
  return { ...refusal, http: isTooLarge ? 413 : (refusal.http ?? 400), message, reason: message, isTrusted: false };
}
