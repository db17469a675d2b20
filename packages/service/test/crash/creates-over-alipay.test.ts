import { afterAll, beforeAll } from 'vitest';
import {
  ALIPAY_PUBLIC_KEY,
  APP_ID,
  APP_PRIVATE_KEY,
  type Behaviour,
  FakeAlipay,
} from '../../../bridge-alipay/test/fake-alipay.js';
import { itAgreesThroughCrashes, type Side, tomorrow } from '../support/bridge-crash-run.js';
import { soakSize } from '../support/soak.js';

const ORDERS = soakSize('ALIPAY', 16, 320);
const FATES: readonly Behaviour[] = [
  { decline: 'ACQ.BUYER_BALANCE_NOT_ENOUGH' },
  'pay-later',
  'unknown-paid',
  'unknown-unpaid',
  'pay-later',
  'lost-unpaid',
  'forged',
  { decline: 'ACQ.CYCLE_PAY_SINGLE_FEE_EXCEED' },
];

let fake: FakeAlipay;

beforeAll(async () => {
  fake = await new FakeAlipay({ callersNow: tomorrow.now }).start();
});
afterAll(() => fake.stop());

itAgreesThroughCrashes(alipay());

/** Returns the fate of the nth order. Every second order is paid normally. */
const fateOf = (n: number) => (n % 2 === 0 ? FATES[(n / 2) % FATES.length] : undefined);

function alipay(): Side {
  return {
    paymentChannelCode: 'ALIPAY',
    bridge: 'bridge-alipay',
    orders: ORDERS,
    // With few orders, only some kill points are tested here: all bridges share one kit, and the test with Stripe
    // covers every point.
    ...(ORDERS < 24 ? { kills: { bridge: ['institution-called'], service: ['after-call'] } } : {}),
    settings: async (write, webhookUrl) => ({
      ALIPAY_APP_ID: APP_ID,
      ALIPAY_PRIVATE_KEY_FILE: await write('app.pem', APP_PRIVATE_KEY),
      ALIPAY_PUBLIC_KEY_FILE: await write('alipay.pem', ALIPAY_PUBLIC_KEY),
      ALIPAY_ENDPOINT: fake.url,
      ALIPAY_NOTIFY_URL: webhookUrl,
      // The bridge's clock is a day ahead, because Alipay has no bill for today.
      INSTITUTION_AHEAD_MS: String(tomorrow.now() - Date.now()),
    }),
    agree(n) {
      const fate = fateOf(n);
      const sharedAgreementNo = `agreement-${n}`;
      if (fate) fake.on(sharedAgreementNo, fate);
      // Sometimes loses the answer to whichever debit comes next, and the answer to the SDK's own retry.
      if (n % 9 === 4) fake.lose('alipay.trade.pay', 2);
      return sharedAgreementNo;
    },
    isPaid: (n) => typeof fateOf(n) !== 'object',
    disturbRefund(n) {
      if (n % 3 === 0) fake.lose('alipay.trade.refund', 2);
    },
    ledger: () =>
      new Map(
        [...fake.trades].map(([attemptNo, { cents, refunds }]) => {
          const debits = Array.from({ length: fake.payments.get(attemptNo) ?? 0 }, () => cents);
          return [attemptNo, { debits, refunds: [...refunds.values()].map((refund) => refund.cents) }];
        }),
      ),
  };
}
