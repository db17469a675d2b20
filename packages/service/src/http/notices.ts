import { CODES, formatTime } from '@perennial/wire';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../clock.js';
import { type Notice, NoticeRefused, type RawNotice } from '../gateways/gateway.js';
import { sendAnswer } from './respond.js';

export interface NoticeDeps {
  readonly clock: Clock;
  /** Throws NoticeRefused for what does not come from the institution of that payment channel. */
  readonly verify: (paymentChannelCode: string, notice: RawNotice) => Promise<Notice>;
  readonly accept: (paymentChannelCode: string, notice: Notice) => Promise<void>;
}

const MAX_NOTICE_BYTES = 65_536;

/** Where institutions tell what became of a debit. Signed by them, idempotent, answered only when it is written down. */
export function noticeRoutes(app: FastifyInstance, { clock, verify, accept }: NoticeDeps): void {
  app.post<{ Params: { code: string } }>(
    '/gateway/v1/notices/:code',
    { bodyLimit: MAX_NOTICE_BYTES },
    async (request, reply) => {
      const timestamp = () => formatTime(clock.now());
      try {
        const headers = Object.fromEntries(
          Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join() : value]),
        );
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const [path = ''] = (request.raw.url ?? '').split('?');
        const notice = { path, headers, body, now: clock.now() };
        await accept(request.params.code, await verify(request.params.code, notice));
      } catch (error) {
        if (!(error instanceof NoticeRefused)) throw error;
        return sendAnswer(reply, 401, { ...CODES.SIGNATURE_INVALID, data: 'null' }, timestamp());
      }
      return sendAnswer(reply, 200, { ...CODES.SUCCESS, data: 'null' }, timestamp());
    },
  );
}
