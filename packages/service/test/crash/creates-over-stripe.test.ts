import { afterAll, beforeAll } from 'vitest';
import {
  type FakeEvent,
  type FakePayment,
  type FakeStripe,
  type Fault,
  startFakeStripe,
  type TestCard,
} from '../../../bridge-stripe/test/fake-stripe.js';
import { type Booked, itAgreesThroughCrashes, type Side } from '../support/bridge-crash-run.js';
import { until } from '../support/processes.js';
import { soakSize } from '../support/soak.js';

const ORDERS = soakSize('STRIPE', 24, 320);

interface Fate {
  readonly card: TestCard;
  /** Set if the payment fails: declined immediately, or failed after some processing. */
  readonly ends?: 'declined' | 'failed-later';
}

const PAID: Fate = { card: 'pm_card_visa' };
const FATES: readonly Fate[] = [
  PAID,
  { card: 'pm_usBankAccount_processing' },
  { card: 'pm_card_pendingRefund' },
  { card: 'pm_card_visa_chargeDeclinedInsufficientFunds', ends: 'declined' },
  PAID,
  { card: 'pm_usBankAccount_processing', ends: 'failed-later' },
  { card: 'pm_card_pendingRefund' },
  { card: 'pm_card_authenticationRequired', ends: 'declined' },
];
const FAULTS: readonly Fault[] = ['lost-answer', 'lost-request', 'error-after', 'rate-limit'];

let fake: FakeStripe;

beforeAll(async () => {
  fake = await startFakeStripe();
});
afterAll(() => fake.stop());

itAgreesThroughCrashes(stripe());

function stripe(): Side {
  const failing = new Set<string>();
  let webhooks = '';
  return {
    paymentChannelCode: 'STRIPE',
    bridge: 'bridge-stripe',
    orders: ORDERS,
    async settings(write, webhookUrl) {
      webhooks = webhookUrl;
      fake.listener = (event) => setImmediate(() => goOn(event, webhookUrl, failing));
      return {
        STRIPE_SECRET_KEY_FILE: await write('stripe.key', fake.secretKey),
        STRIPE_WEBHOOK_SECRET_FILE: await write('webhook.secret', fake.webhookSecret),
        STRIPE_API_BASE: fake.url,
      };
    },
    agree(n) {
      const { card, ends } = fateOf(n);
      const sharedAgreementNo = fake.attach(card);
      if (ends === 'failed-later') failing.add(sharedAgreementNo);
      // Sets the fault for whichever debit comes next.
      const fault = n % 3 === 1 ? FAULTS[((n - 1) / 3) % FAULTS.length] : undefined;
      if (fault) fake.fail('POST /v1/payment_intents', fault);
      return sharedAgreementNo;
    },
    isPaid: (n) => fateOf(n).ends === undefined,
    disturbRefund(n) {
      const fault = n % 2 === 0 ? FAULTS[(n / 2) % FAULTS.length] : undefined;
      if (fault) fake.fail('POST /v1/refunds', fault);
    },
    /** Sends all events of Stripe again, the latest first. */
    async sayAgain() {
      for (const event of fake.events.toReversed()) await until('the webhook is taken', () => tell(event, webhooks));
    },
    ledger: readLedger,
  };
}

const fateOf = (n: number): Fate => FATES[n % FATES.length] ?? PAID;

/** Plays Stripe's part after an event: finishes all pending payments and refunds, and sends the event one time. */
function goOn(event: FakeEvent, webhookUrl: string, failing: ReadonlySet<string>): void {
  for (const payment of fake.payments.filter(({ status }) => status === 'processing')) {
    const isFailing = failing.has(`${payment.customer}/${payment.payment_method}`);
    fake.settle(payment, isFailing ? { code: 'insufficient_funds' } : undefined);
  }
  for (const refund of fake.refunds.filter(({ status }) => status === 'pending'))
    fake.settleRefund(refund, 'succeeded');
  void tell(event, webhookUrl);
}

async function tell({ body }: FakeEvent, webhookUrl: string): Promise<boolean> {
  const told = fetch(webhookUrl, { method: 'POST', headers: fake.sign(body), body });
  return told.then(
    async (response) => {
      await response.text();
      return response.status === 200;
    },
    () => false,
  );
}

/**
 * Returns the debits and refunds of each attempt. If an attempt has several PaymentIntents, which is an error, each
 * counts as a debit, paid or not.
 */
function readLedger(): ReadonlyMap<string, Booked> {
  const numbers = new Set(fake.payments.map(attemptNoOf));
  return new Map([...numbers].map((attemptNo) => [attemptNo, readBooked(attemptNo)]));
}

const attemptNoOf = ({ metadata }: FakePayment) => metadata['perennial_attempt_no'] ?? 'none';

function readBooked(attemptNo: string): Booked {
  const payments = fake.payments.filter((payment) => attemptNoOf(payment) === attemptNo);
  const debits = payments.length === 1 ? payments.filter(({ status }) => status === 'succeeded') : payments;
  const refunds = fake.refunds.filter(({ payment, status }) => payments.includes(payment) && status === 'succeeded');
  return { debits: debits.map(({ amount }) => amount), refunds: refunds.map(({ amount }) => amount) };
}
