// A bridge to an imaginary bank, built with the bridge kit. This file has only what is specific to the bank: its URLs,
// its field names, its payment states. The kit does the rest: signatures, the book, retries, notices
// (packages/bridge-kit/README.md).
//
//   BANK_URL=http://127.0.0.1:8070 BANK_TOKEN=… BRIDGE_KEY_FILE=data/bank.key DATABASE_URL=postgres://… node examples/bridge/bank-bridge.mjs
import { createHmac, timingSafeEqual } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { BadMessage, requireSetting, runBridge } from '@perennial/bridge-kit';

const DAY_MS = 86_400_000;

/** The decline that the service gets for each of the bank's refusal reasons. An unlisted reason counts as FINAL. */
const DECLINES = {
  NO_FUNDS: 'RETRYABLE',
  LIMIT: 'RETRYABLE',
  CARD_BLOCKED: 'FINAL',
  NOT_YOUR_MANDATE: 'FINAL',
  MANDATE_ENDED: 'AGREEMENT_INVALID',
};

/** Throws BadMessage (HTTP 400) if the body is not JSON. The bank does not resend an event after a 400. */
function readEvent(text) {
  try {
    return Object(JSON.parse(text));
  } catch {
    throw new BadMessage('the body is not JSON');
  }
}

export function createBank({ url, token }) {
  /**
   * Calls the bank. Returns undefined for 404. Throws ("outcome unknown") unless the bank answers JSON with 2xx or 409.
   */
  async function call(method, path, body, signal) {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      signal,
    });
    if (response.status === 404) return undefined;
    if (!response.ok && response.status !== 409) throw new Error(`the bank answered ${response.status}`);
    return response.json();
  }

  /** Translates a payment or repayment of the bank into an outcome of the bridge protocol. */
  function toOutcome(payment, timeName, refusal) {
    const { state, id, cents, bookedAt, reason } = payment;
    switch (state) {
      case 'BOOKED':
        return { status: 'SUCCESS', amountCent: cents, [timeName]: Date.parse(bookedAt), institutionRef: id };
      case 'REFUSED':
        return { ...refusal(reason), reason };
      case 'WAITING':
        return { status: 'PENDING', institutionRef: id };
      default:
        throw new Error(`the bank has a state that is not in its manual: ${state}`);
    }
  }
  const toDebit = (payment) =>
    toOutcome(payment, 'paidAt', (reason) => ({ status: 'DECLINED', decline: DECLINES[reason] ?? 'FINAL' }));
  const toRefund = (repayment) => toOutcome(repayment, 'refundedAt', () => ({ status: 'REFUSED' }));
  const NOT_FOUND = { status: 'NOT_FOUND' };

  return {
    name: 'example-bank',
    currency: 'CNY',
    // The bank's manual: "A reference is executed once within 30 days".
    repeatableForMs: 30 * DAY_MS,

    async debit({ attemptNo, institutionNo, amountCent, appId }, signal) {
      const order = { reference: attemptNo, mandate: institutionNo, cents: amountCent, merchant: appId };
      return toDebit(await call('POST', '/payments', order, signal));
    },

    async findDebit({ attemptNo }, signal) {
      const payment = await call('GET', `/payments/${encodeURIComponent(attemptNo)}`, undefined, signal);
      return payment ? toDebit(payment) : NOT_FOUND;
    },

    async refund({ refundNo, debitRef, amountCent }, signal) {
      const order = { reference: refundNo, payment: debitRef, cents: amountCent };
      return toRefund(await call('POST', '/repayments', order, signal));
    },

    async findRefund({ refundNo }, signal) {
      const repayment = await call('GET', `/repayments/${encodeURIComponent(refundNo)}`, undefined, signal);
      return repayment ? toRefund(repayment) : NOT_FOUND;
    },

    async cancelAgreement(institutionNo, signal) {
      // A 404 also counts as canceled: a mandate that the bank does not have cannot be debited.
      await call('DELETE', `/mandates/${encodeURIComponent(institutionNo)}`, undefined, signal);
      return { status: 'CANCELED' };
    },

    async statement(day, cursor = '1', signal) {
      const page = await call('GET', `/bookings?day=${day}&page=${encodeURIComponent(cursor)}`, undefined, signal);
      return {
        lines: page.bookings.map(({ type, reference, cents, bookedAt, id }) => ({
          kind: type === 'PAYMENT' ? 'DEBIT' : 'REFUND',
          number: reference,
          amountCent: cents,
          status: 'SUCCESS',
          bookedAt: Date.parse(bookedAt),
          institutionRef: id,
        })),
        nextCursor: page.next === null ? undefined : String(page.next),
      };
    },

    async readWebhook({ headers, body }) {
      const expected = createHmac('sha256', token).update(body).digest();
      const given = Buffer.from(String(headers['bank-signature'] ?? ''), 'hex');
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
      const { event, payment, mandate } = readEvent(body.toString());
      const answer = { status: 200, contentType: 'text/plain', body: 'ok' };
      switch (event) {
        case 'payment':
          return { told: [{ about: 'debit', attemptNo: payment.reference, outcome: toDebit(payment) }], answer };
        case 'mandate-ended':
          return { told: [{ about: 'agreement-ended', institutionNo: mandate, reason: 'ended at the bank' }], answer };
        default:
          return { told: [], answer };
      }
    },

    async bindCode({ bindOrderNo, card }, signal) {
      const { bankCardNo, realName, bankMobile } = card;
      const enrolment = { reference: bindOrderNo, card: bankCardNo, holder: realName, mobile: bankMobile };
      const { sent, reason } = await call('POST', '/enrolments', enrolment, signal);
      return sent ? { status: 'SENT', reference: undefined } : { status: 'NOT_SENT', reason };
    },

    async bindConfirm({ bindOrderNo, smsCode }, signal) {
      const path = `/enrolments/${encodeURIComponent(bindOrderNo)}/code`;
      const said = await call('POST', path, { code: smsCode }, signal);
      if (said === undefined) return { status: 'REFUSED', reason: 'no code was sent for this binding' };
      return said.mandate
        ? { status: 'BOUND', institutionNo: said.mandate }
        : { status: 'WRONG_CODE', reason: 'the code is wrong' };
    },
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await runBridge(({ env }) =>
    createBank({ url: requireSetting(env, 'BANK_URL'), token: requireSetting(env, 'BANK_TOKEN') }),
  );
}
