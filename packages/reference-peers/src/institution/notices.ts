import { randomBytes } from '@perennial/wire';
import { CONTENT_TYPE, KEY_BYTES, type NoticeMessage, type SignedHeaders, signedHeaders } from '@perennial/wire/bridge';
import type { Clock, Timers } from '../peer.js';
import type { NoticeManner } from './ledger.js';

export interface NoticeSenderOptions {
  readonly url: string;
  readonly key: Uint8Array;
  readonly currency: string;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Returns the delay before the first retry, and the longest delay. The delay doubles with each retry. */
  readonly pauses: () => { readonly noticeRetryMs: number; readonly longestNoticeRetryMs: number };
}

export interface NoticeSender {
  /** Sends a notice and retries until the service answers 200. Then calls `accepted`. */
  send(notice: NoticeMessage, manner: NoticeManner, accepted: () => void): void;
  stop(): void;
}

const DEADLINE_MS = 5_000;

export function createNoticeSender(options: NoticeSenderOptions): NoticeSender {
  const { url, key, currency, clock, timers, pauses } = options;
  const path = parseNoticePath(url);
  const stopping = new AbortController();

  async function deliver(notice: NoticeMessage, manner: NoticeManner, accepted: () => void, tries = 0): Promise<void> {
    if (manner === 'forged' && tries === 0) await post(sign(oppositeNotice(notice), randomBytes(KEY_BYTES)));
    const signed = sign(notice, key);
    const isAccepted = await post(signed);
    if (stopping.signal.aborted) return;
    if (!isAccepted) {
      const { noticeRetryMs, longestNoticeRetryMs } = pauses();
      const pause = Math.min(noticeRetryMs * 2 ** Math.min(tries, 30), longestNoticeRetryMs);
      timers.after(pause, () => void deliver(notice, manner, accepted, tries + 1));
      return;
    }
    // Sends the same bytes again, as an attacker would replay them.
    if (manner === 'duplicate') await post(signed);
    if (!stopping.signal.aborted) accepted();
  }

  function sign(notice: NoticeMessage, withKey: Uint8Array) {
    const body = Buffer.from(JSON.stringify({ ...notice, currency }));
    return { body, headers: signedHeaders({ path, body, now: clock.now(), requestId: notice.noticeNo }, withKey) };
  }

  async function post({ body, headers }: { body: Buffer; headers: SignedHeaders }): Promise<boolean> {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': CONTENT_TYPE, ...headers },
        body,
        redirect: 'manual',
        signal: AbortSignal.any([AbortSignal.timeout(DEADLINE_MS), stopping.signal]),
      });
      await response.arrayBuffer();
      return response.status === 200;
    } catch {
      return false;
    }
  }

  return {
    send: (notice, manner, accepted) => void deliver(notice, manner, accepted),
    stop: () => stopping.abort(),
  };
}

/** Returns the opposite result of a debit's notice, for a forged notice. */
function oppositeNotice(notice: NoticeMessage): NoticeMessage {
  if (notice.kind !== 'DEBIT') return notice;
  const { kind, noticeNo, attemptNo } = notice;
  if (notice.status === 'SUCCESS') {
    return { kind, noticeNo, attemptNo, status: 'DECLINED', decline: 'FINAL', reason: 'forged' };
  }
  return { kind, noticeNo, attemptNo, status: 'SUCCESS', amountCent: 1, paidAt: 1, institutionRef: 'forged' };
}

function parseNoticePath(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || `${url.search}${url.hash}` !== '') {
    throw new Error('the notice address must start with http:// or https:// and have no query or fragment');
  }
  return url.pathname;
}
