import { CONTENT_TYPE, signedHeaders } from '@perennial/wire/bridge';
import { Agent } from 'undici';
import { BadSetting } from '../bad-setting.js';
import type { NoticeRow, Notices } from '../book/notices.js';
import type { Clock } from '../clock.js';
import type { At } from '../flow/numbered-calls.js';
import type { BridgeLog } from '../log.js';
import type { BridgeMetrics } from '../metrics.js';

export interface NoticeSenderOptions {
  readonly url: string;
  readonly key: Uint8Array;
  readonly currency: string;
  readonly notices: Notices;
  readonly clock: Clock;
  readonly metrics: BridgeMetrics;
  readonly log: BridgeLog;
  readonly at: At;
}

export interface NoticeSender {
  /** Sends due notices. Returns whether there may be more. */
  sendDue(): Promise<boolean>;
  stop(): Promise<void>;
}

const AT_ONCE = 16;
const DEADLINE_MS = 5_000;
/**
 * The duration of a lease on a notice: longer than any attempt. If this process dies, another process sends the notice
 * after the lease has ended.
 */
const IN_HAND_MS = 10_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;
const LONGEST_RETRY_AFTER_S = 3_600;
/** The path of the service's notice endpoint: docs/bridge.md. */
const PATH = /\/gateway\/v1\/notices\/[^/?#]+$/;
/**
 * The number of 400 and 413 responses after which a notice is given up. One such response is not enough, because the
 * notice's body may have been truncated on the way.
 */
const MOST_REFUSALS = 8;

interface Answer {
  /** The HTTP status, or undefined if there was no response. */
  readonly status: number | undefined;
  readonly retryAfterMs: number;
}

/** Sends each notice until the service accepts it or has refused it MOST_REFUSALS times. Signs each attempt again. */
export function createNoticeSender(options: NoticeSenderOptions): NoticeSender {
  const { key, currency, notices, clock, metrics, log, at } = options;
  const { origin, pathname: path } = requireNoticeUrl(options.url);
  const agent = new Agent({ connections: AT_ONCE, pipelining: 1, allowH2: false });

  async function post({ noticeNo, message }: NoticeRow): Promise<Answer> {
    const body = Buffer.from(JSON.stringify({ ...message, currency }));
    const headers = signedHeaders({ path, body, now: clock.now(), requestId: noticeNo }, key);
    try {
      const response = await agent.request({
        origin,
        method: 'POST',
        path,
        headers: { 'content-type': CONTENT_TYPE, ...headers },
        body,
        signal: AbortSignal.timeout(DEADLINE_MS),
      });
      await response.body.dump();
      return { status: response.statusCode, retryAfterMs: readRetryAfter(response.headers['retry-after']) };
    } catch {
      return { status: undefined, retryAfterMs: 0 };
    }
  }

  async function send(notice: NoticeRow): Promise<void> {
    const { noticeNo, tries, refusals } = notice;
    const { status, retryAfterMs } = await post(notice);
    await at('notice-sent', noticeNo);
    const now = clock.now();
    metrics.countNotice(status === undefined ? 'unreachable' : String(status));
    if (status === 200) return notices.end(noticeNo, 'TAKEN', now);
    const isRefused = status === 400 || status === 413;
    const said = { noticeNo, tries, status: status ?? 'no answer' };
    if (isRefused && refusals + 1 >= MOST_REFUSALS) {
      log.error(said, 'the service refused a notice, which is given up: check it there');
      return notices.end(noticeNo, 'GIVEN_UP', now);
    }
    const pauseMs = Math.max(Math.min(FIRST_PAUSE_MS * 2 ** Math.min(tries - 1, 20), LONGEST_PAUSE_MS), retryAfterMs);
    log.warn({ ...said, pauseMs }, 'a notice was not accepted and will be retried');
    return notices.sendLater(noticeNo, now + pauseMs, isRefused);
  }

  return {
    async sendDue() {
      const due = await notices.takeDue(clock.now(), IN_HAND_MS, AT_ONCE);
      await Promise.all(due.map(send));
      return due.length === AT_ONCE;
    },
    stop: () => agent.close(),
  };
}

function readRetryAfter(header: string | string[] | undefined): number {
  const seconds = typeof header === 'string' && /^\d{1,9}$/.test(header) ? Number(header) : 0;
  return Math.min(seconds, LONGEST_RETRY_AFTER_S) * 1000;
}

function requireNoticeUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && PATH.test(`${url.pathname}${url.search}${url.hash}`))
    return url;
  throw new BadSetting('NOTICE_URL must be {serviceUrl}/gateway/v1/notices/{paymentChannelCode}, with http or https');
}
