import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type MainOrder, parseTime } from '@perennial/wire';
import type { PerennialClient } from '../../client.js';
import { isPerennialError } from '../../errors.js';
import type { Verdict } from '../check-receiver/check-receiver-command.js';
import { describeNewOrder, type NewOrderWish } from '../trigger/new-order.js';

/** One line of the report. `isMet` is null if the check could not be made. */
export interface Finding {
  readonly subject: 'Signature' | 'Clock' | 'Idempotency' | 'Delivery' | 'Receiver' | 'De-duplication' | 'Retries';
  readonly check: string;
  readonly isMet: boolean | null;
  readonly detail: string;
}

export interface CheckDeps {
  readonly client: PerennialClient;
  readonly now: () => number;
  readonly wish: NewOrderWish;
  /** The longest wait for the delivery of an order's events. */
  readonly deliveryMs: number;
}

/** The allowed difference between the clocks. The service refuses requests at 5 minutes. */
const MAX_CLOCK_MS = 30_000;
const POLL_MS = 500;

/** Checks the calls of the service. Creates an order in the sandbox and unsubscribes it. */
export async function checkCalls({ client, now, wish, deliveryMs }: CheckDeps): Promise<Finding[]> {
  const { timestamp } = await client.send('payment-channels/list', {});
  const offMs = Math.abs(now() - (parseTime(timestamp) ?? 0));
  const { order, findings } = await checkIdempotency(client, wish);
  const delivery = await checkDelivery(client, order, deliveryMs);
  await client.orders.unsubscribe({ orderNo: order.orderNo, reason: 'go-live-check' });
  return [
    {
      subject: 'Signature',
      check: 'the service accepts the credentials and the signature',
      isMet: true,
      detail: 'a signed request with an access token was answered',
    },
    {
      subject: 'Clock',
      check: 'the clock is within 30 s of the service',
      isMet: offMs <= MAX_CLOCK_MS,
      detail: `${Math.round(offMs / 1000)} s off`,
    },
    ...findings,
    delivery,
  ];
}

async function checkIdempotency(client: PerennialClient, wish: NewOrderWish) {
  const idempotencyKey = randomUUID();
  const body = await describeNewOrder(client, wish);
  const create = (more: object) => client.send('orders/create', { ...body, ...more }, { idempotencyKey });
  const { data: order } = await create({});
  const again = await create({});
  const other = await create({ productCode: `${body.productCode}_OTHER` }).then(
    () => 'accepted',
    (error: unknown) => (isPerennialError(error, 'IDEMPOTENCY_CONFLICT') ? '409001' : String(error)),
  );
  const findings: Finding[] = [
    {
      subject: 'Idempotency',
      check: 'a resend with the same Idempotency-Key returns the first order',
      isMet: again.replayed && again.data.orderNo === order.orderNo,
      detail: `order ${again.data.orderNo}${again.replayed ? ', replayed' : ''}`,
    },
    {
      subject: 'Idempotency',
      check: 'another body under the same key is refused with 409001',
      isMet: other === '409001',
      detail: other,
    },
  ];
  return { order, findings };
}

const NO_CALLBACK =
  'no callback address is registered: npx perennial-channel sandbox channel set --callback-url URL registers one';

/** Waits until the order's events were delivered to the callback address. */
async function checkDelivery(client: PerennialClient, { orderNo }: MainOrder, waitMs: number): Promise<Finding> {
  const about = { subject: 'Delivery', check: "the order's events reach the callback address" } as const;
  const end = performance.now() + waitMs;
  for (;;) {
    const { events } = await client.events.list({ orderNo });
    const statuses = [...new Set(events.map(({ deliveryStatus }) => deliveryStatus))];
    const detail = statuses.join(', ');
    if (statuses.includes('NO_CALLBACK')) return { ...about, isMet: null, detail: NO_CALLBACK };
    if (statuses.length === 1 && statuses[0] === 'DELIVERED') return { ...about, isMet: true, detail };
    if (performance.now() >= end) return { ...about, isMet: false, detail };
    await delay(POLL_MS);
  }
}

/** Turns the verdicts of check-receiver into findings. */
export function toFindings(verdicts: readonly Verdict[]): Finding[] {
  const findings = verdicts.map(({ name, sent, expected, isMet, got, advice }) => ({
    subject: name === 'repeated' ? ('Retries' as const) : ('Receiver' as const),
    check: `${name}: ${sent}; expected ${expected}`,
    isMet,
    detail: isMet === false && advice !== '' ? `${got}. ${advice}` : got,
  }));
  const repeated = verdicts.find(({ name }) => name === 'repeated');
  const isProven = repeated?.isProven === true;
  return [
    ...findings,
    {
      subject: 'De-duplication',
      check: 'an event that is sent four times takes effect once',
      isMet: isProven ? (repeated?.isMet ?? null) : null,
      detail: isProven ? (repeated?.got ?? '') : 'not provable without --effects',
    },
  ];
}
