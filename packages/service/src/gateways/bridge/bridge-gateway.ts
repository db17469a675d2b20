import {
  checkSignature,
  currencyOf,
  DEFAULT_CURRENCY,
  type Fields,
  MAX_MESSAGE_BYTES,
  MAX_STATEMENT_BYTES,
  type Operation,
  readFields,
} from '@perennial/wire/bridge';
import type { Logger } from 'pino';
import type { Clock } from '../../platform/clock.js';
import type { PeerAccess } from '../../platform/http-client/peer-access.js';
import { createRefusal, PlainError } from '../../platform/plain-error.js';
import type { Origin } from '../../platform/tracing.js';
import { type Gateway, NoticeRefused, type StatementLine, type TestCall } from '../gateway.js';
import { createBridgeClient } from './bridge-client.js';
import {
  readBindCodeOutcome,
  readBindOutcome,
  readCancelOutcome,
  readDebitOutcome,
  readDebitQueryOutcome,
  readNotice,
  readRefundOutcome,
  readRefundQueryOutcome,
  readStatementPage,
} from './read-outcomes.js';

export interface Deadlines {
  readonly debit: number;
  readonly other: number;
  /** For all pages of a day's statement. */
  readonly statement: number;
}

/**
 * Debits have less time than other calls, because the channel waits for the answer of a first debit. A statement has an
 * hour, for which a node leases the bridge's reconciliation.
 */
const DEADLINES: Deadlines = { debit: 8_000, other: 10_000, statement: 3_600_000 };
/** Ten million lines if the pages are full. Without a limit, a bridge could fill the disk. */
const MAX_STATEMENT_PAGES = 10_000;
const MAX_CONNECTIONS = 64;

export interface BridgeOptions {
  /** http(s)://host:port/path, without a query. */
  readonly url: string;
  /** The key shared with the institution, 32 bytes. */
  readonly key: Uint8Array;
  /** The currency of every amount. Defaults to CNY. */
  readonly currency?: string | undefined;
  /**
   * Called with the bridge's currency after each handshake. Each call begins with a handshake until the currency equals
   * `currency`.
   */
  readonly onHandshake?: (currency: string) => Promise<void>;
  readonly clock: Clock;
  readonly deadlineMs?: Partial<Deadlines>;
  /** The maximum number of concurrent calls. Further calls wait within their deadlines. */
  readonly connections?: number;
  /** The maximum number of pages of a day's statement. */
  readonly statementPages?: number;
  readonly log?: Logger;
  /** Default: no client certificate, the certificate authorities that Node trusts, no proxy. */
  readonly peers?: PeerAccess | undefined;
}

/** A debit that was never made: real order numbers are longer. Tests query it. */
const UNKNOWN_DEBIT = {
  appId: 'connection_test',
  attemptNo: '1000101',
  amountCent: 1,
  orderNo: '1',
  cycleNo: 1,
  externalOrderNo: 'connection-test',
};

export interface BridgeGateway extends Gateway {
  /** Interrupts calls in flight. Their outcomes are then unknown. */
  close(): Promise<void>;
}

/** The idempotency key of a call, if it has one, and the API request that caused the call. */
interface CallFor {
  readonly number?: string;
  readonly origin?: Origin | undefined;
}

/** The day's statement is incomplete. Lines that were already yielded must not be used. */
export class StatementUnavailable extends PlainError {}

/** Creates a gateway to an institution behind the protocol of docs/bridge.md. */
export function createBridgeGateway(options: BridgeOptions): BridgeGateway {
  const {
    url,
    key,
    currency = DEFAULT_CURRENCY,
    onHandshake,
    clock,
    connections = MAX_CONNECTIONS,
    statementPages = MAX_STATEMENT_PAGES,
    log,
    peers,
  } = options;
  const deadlines = { ...DEADLINES, ...options.deadlineMs };
  const client = createBridgeClient({ url, key, clock, connections, log, peers });
  let isSameCurrency = false;
  let unreported: string | undefined;
  let handshake: Promise<void> | undefined;

  /** Checks that the bridge has the installation's currency. A bridge that does not know the handshake has CNY. */
  async function shakeHands(deadlineMs: number): Promise<void> {
    const body = { currency };
    const call = { operation: 'handshake', body, deadlineMs, maxBytes: MAX_MESSAGE_BYTES, ifMissing: {} } as const;
    const answer = await client.call(call);
    const theirs = answer && currencyOf(answer);
    if (theirs === undefined) return;
    isSameCurrency = theirs === currency;
    if (!isSameCurrency) {
      const cause = `bridge at ${url}: its amounts are in ${theirs}`;
      log?.error(
        { currency, theirs, cause },
        'bridge has another currency and is not called; set it to the currency of the installation',
      );
    }
    await report(theirs);
  }

  /**
   * Raises or resolves the alert about the currency. If the database cannot store the alert now, the next call of the
   * bridge tries again.
   */
  async function report(theirs: string): Promise<void> {
    unreported = theirs;
    try {
      await onHandshake?.(theirs);
      unreported = undefined;
    } catch {
      // If the currency is wrong, the log already says so.
    }
  }

  /** Calls the bridge after a handshake has confirmed its currency. Handshake and call share one deadline. */
  async function call(
    operation: Operation,
    body: object,
    { number, origin }: CallFor = {},
  ): Promise<Fields | undefined> {
    let deadlineMs = operation === 'debit' ? deadlines.debit : deadlines.other;
    if (!isSameCurrency) {
      const began = performance.now();
      handshake ??= shakeHands(deadlineMs).finally(() => {
        handshake = undefined;
      });
      await handshake;
      deadlineMs -= performance.now() - began;
      if (!isSameCurrency || deadlineMs <= 0) return undefined;
    } else if (unreported !== undefined) void report(unreported);
    return client.call({
      operation,
      body: { ...body, currency },
      origin,
      ...(number === undefined ? {} : { number }),
      deadlineMs,
      maxBytes: operation === 'statement' ? MAX_STATEMENT_BYTES : MAX_MESSAGE_BYTES,
    });
  }

  return {
    async sendBindCode({ appId, origin, bindOrderNo, bankCode, card }) {
      const { bankCardNo, certificateNo, certType, realName, bankMobile } = card;
      return readBindCodeOutcome(
        await call(
          'bind-code',
          {
            appId,
            bindOrderNo,
            bankCode: bankCode ?? null,
            card: { bankCardNo, certificateNo, certType, realName, bankMobile },
          },
          { origin },
        ),
      );
    },

    async confirmBind({ appId, origin, bindOrderNo, reference, smsCode }) {
      const body = { appId, bindOrderNo, reference: reference ?? null, smsCode };
      return readBindOutcome(await call('bind-confirm', body, { origin }));
    },

    async debit({ appId, origin, attemptNo, institutionNo, amountCent, orderNo, cycleNo, externalOrderNo, startedAt }) {
      const body = { appId, attemptNo, institutionNo, amountCent, orderNo, cycleNo, externalOrderNo, startedAt };
      return readDebitOutcome(await call('debit', body, { number: attemptNo, origin }), attemptNo);
    },

    async queryDebit({ appId, origin, attemptNo, amountCent, orderNo, cycleNo, externalOrderNo, startedAt }) {
      const body = { appId, attemptNo, amountCent, orderNo, cycleNo, externalOrderNo, startedAt };
      return readDebitQueryOutcome(await call('debit-query', body, { origin }), attemptNo);
    },

    async refund({ appId, refundNo, attemptNo, amountCent }) {
      return readRefundOutcome(
        await call('refund', { appId, refundNo, attemptNo, amountCent }, { number: refundNo }),
        refundNo,
      );
    },

    async queryRefund({ appId, refundNo }) {
      return readRefundQueryOutcome(await call('refund-query', { appId, refundNo }), refundNo);
    },

    async cancelAgreement({ appId, agreementNo, institutionNo }) {
      return readCancelOutcome(await call('agreement-cancel', { appId, agreementNo, institutionNo }));
    },

    verifyNotice({ path, headers, body, now }) {
      if (body.length > MAX_MESSAGE_BYTES) throw new NoticeRefused('untrusted', 'the notice is too large');
      const checked = checkSignature({ path, query: '', headers, body, now }, key);
      if (!checked.trusted) throw new NoticeRefused('untrusted', checked.why);
      const fields = readFields(body);
      if (fields !== undefined && currencyOf(fields) !== currency) {
        throw new NoticeRefused('unusable', `the notice is not in ${currency}`);
      }
      const notice = fields === undefined ? undefined : readNotice(fields);
      if (notice === undefined) throw new NoticeRefused('unusable', 'the notice has no result that is known');
      return notice;
    },

    async *statement(day): AsyncGenerator<StatementLine> {
      const began = performance.now();
      let cursor: string | undefined;
      let pages = 0;
      do {
        pages += 1;
        if (pages > statementPages || performance.now() - began > deadlines.statement) {
          throw createRefusal(StatementUnavailable, 'statement-endless')`the statement of ${day} does not end`;
        }
        const answer = await call('statement', { day, cursor: cursor ?? null });
        const page = answer === undefined ? undefined : readStatementPage(answer, day);
        if (page === undefined)
          throw createRefusal(
            StatementUnavailable,
            'statement-unusable',
          )`the bridge gave no statement of ${day} that can be used`;
        if (page.nextCursor !== undefined && page.nextCursor === cursor) {
          throw createRefusal(
            StatementUnavailable,
            'statement-repeats',
          )`the bridge repeats a page of the statement of ${day}`;
        }
        yield* page.lines;
        cursor = page.nextCursor;
      } while (cursor !== undefined);
    },

    async testCalls() {
      const test = async (operation: TestCall['operation'], more: object, read: (fields: Fields) => string) => {
        const began = performance.now();
        let said = '';
        const answer = await client.call({
          operation,
          body: { ...more, currency },
          deadlineMs: deadlines.other,
          maxBytes: MAX_MESSAGE_BYTES,
          ...(operation === 'handshake' ? { ifMissing: {} } : {}),
          onFailure: (why) => {
            said = why;
          },
        });
        if (answer) said = read(answer);
        const ms = Math.round(performance.now() - began);
        return { operation, isAnswered: answer !== undefined && said !== 'unknown', ms, said };
      };
      const handshake = await test('handshake', {}, (fields) => currencyOf(fields) ?? 'unknown');
      if (!handshake.isAnswered || handshake.said !== currency) return [handshake];
      const { attemptNo } = UNKNOWN_DEBIT;
      const body = { ...UNKNOWN_DEBIT, startedAt: clock.now() };
      return [handshake, await test('debit-query', body, (fields) => readDebitQueryOutcome(fields, attemptNo).kind)];
    },

    close: async () => client.close(),
  };
}
