import { randomBytes } from '@perennial/wire';
import { CONTENT_TYPE, KEY_BYTES, type NoticeMessage, type SignedHeaders, signedHeaders } from '@perennial/wire/bridge';
import type { Logger } from 'pino';
import { Pool } from 'undici';
import type { Clock } from '../shared/clock.js';
import { PeerError } from '../shared/peer-error.js';
import type { Timers } from '../shared/timers.js';
import type { NoticeManner } from './ledger.js';

/** The pause after the first failure doubles up to the longest. */
export interface RetryPauses {
  readonly noticeRetryMs: number;
  readonly longestNoticeRetryMs: number;
}

export interface NoticeSenderOptions {
  readonly url: string;
  readonly key: Uint8Array;
  readonly currency: string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly pauses: () => RetryPauses;
  readonly log: Logger | undefined;
}

export interface NoticeSender {
  /** Repeats until the service has answered 200, then calls `accepted`. */
  send(notice: NoticeMessage, manner: NoticeManner, accepted: () => Promise<void>): void;
  stop(): Promise<void>;
}

const MAX_SENDING = 16;
const DEADLINE_MS = 5_000;

interface Waiting {
  readonly notice: NoticeMessage;
  readonly manner: NoticeManner;
  readonly accepted: () => Promise<void>;
  tries: number;
}

export function createNoticeSender({
  url,
  key,
  currency,
  clock,
  timers,
  pauses,
  log,
}: NoticeSenderOptions): NoticeSender {
  const { origin, path } = parseNoticeUrl(url);
  const pool = new Pool(origin, { connections: MAX_SENDING, pipelining: 1, allowH2: false });
  const waiting: Waiting[] = [];
  const sending = new Set<Promise<void>>();
  let stopped = false;

  function startNext(): void {
    while (!stopped && sending.size < MAX_SENDING) {
      const item = waiting.shift();
      if (item === undefined) return;
      const attempt = deliver(item).finally(() => {
        sending.delete(attempt);
        startNext();
      });
      sending.add(attempt);
    }
  }

  async function deliver(item: Waiting): Promise<void> {
    const { notice, manner, accepted } = item;
    if (manner === 'forged' && item.tries === 0) await post(oppositeNotice(notice), randomBytes(KEY_BYTES));
    const { ok, again } = await post(notice, key);
    if (ok) {
      // The same bytes, as an attacker would send them who has recorded the notice.
      if (manner === 'duplicate') await again();
      await accepted().catch(() => undefined);
      return;
    }
    item.tries += 1;
    const { noticeRetryMs, longestNoticeRetryMs } = pauses();
    const pause = Math.min(noticeRetryMs * 2 ** Math.min(item.tries - 1, 30), longestNoticeRetryMs);
    log?.warn({ noticeNo: notice.noticeNo, tries: item.tries, pause }, 'a notice was not accepted and is sent again');
    timers.after(pause, () => {
      waiting.push(item);
      startNext();
    });
  }

  async function post(notice: NoticeMessage, withKey: Uint8Array) {
    const body = Buffer.from(JSON.stringify({ ...notice, currency }));
    const headers = signedHeaders({ path, body, now: clock.now(), requestId: notice.noticeNo }, withKey);
    return { ok: await request(headers, body), again: () => request(headers, body) };
  }

  async function request(headers: SignedHeaders, body: Buffer): Promise<boolean> {
    try {
      const response = await pool.request({
        method: 'POST',
        path,
        headers: { 'content-type': CONTENT_TYPE, ...headers },
        body,
        signal: AbortSignal.timeout(DEADLINE_MS),
      });
      await response.body.dump();
      return response.statusCode === 200;
    } catch {
      return false;
    }
  }

  return {
    send(notice, manner, accepted) {
      waiting.push({ notice, manner, accepted, tries: 0 });
      startNext();
    },
    async stop() {
      stopped = true;
      await pool.destroy();
      await Promise.all(sending);
    },
  };
}

/** A forged notice with the opposite result. */
function oppositeNotice(notice: NoticeMessage): NoticeMessage {
  if (notice.kind !== 'DEBIT') return notice;
  const { kind, noticeNo, attemptNo } = notice;
  if (notice.status === 'SUCCESS') {
    return { kind, noticeNo, attemptNo, status: 'DECLINED', decline: 'FINAL', reason: 'forged' };
  }
  return { kind, noticeNo, attemptNo, status: 'SUCCESS', amountCent: 1, paidAt: 1, institutionRef: 'forged' };
}

function parseNoticeUrl(text: string): { readonly origin: string; readonly path: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || `${url.search}${url.hash}` !== '') {
    throw new PeerError('the notice address must start with http:// or https:// and have no query or fragment');
  }
  return { origin: url.origin, path: url.pathname };
}
