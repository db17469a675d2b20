import {
  encryptField,
  formatTime,
  fromBase64,
  HEADERS,
  type OrderPayload,
  type PaymentPayload,
  type UpcomingPayload,
} from '@perennial/wire';
import { readSecret } from '../../secrets.js';
import { signPush } from '../../webhooks/sign-for-test.js';
import type { EventCredentials } from '../channel-file.js';
import type { Push } from '../pushes/send-push.js';

/** How a push differs from a valid one. */
export interface PushWish {
  /** JSON with the same eventId as the header. */
  readonly body: string;
  readonly eventId: string;
  /** In base64. Replaces the channel's secret. */
  readonly callbackSecret?: string;
  readonly timestamp?: number;
  /** The signed path, if it is not the receiver's. */
  readonly path?: string;
  /** Replaces the correct signature. */
  readonly signature?: (right: string) => string;
  /** Replaces headers after signing. Undefined removes a header. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Sent instead of the signed body. */
  readonly sentBody?: string;
}

/** Returns a function that creates pushes as the service does, for one channel and path. */
export function createPushMaker(channel: EventCredentials, path: string, now: () => number) {
  return (wish: PushWish): Push => {
    const { body, eventId, timestamp = now() } = wish;
    const secret = readSecret('callbackSecret', wish.callbackSecret ?? channel.callbackSecret);
    const signed = signPush({ path: wish.path ?? path, body, appId: channel.appId, eventId, timestamp }, secret);
    const signature = wish.signature?.(signed[HEADERS.signature]) ?? signed[HEADERS.signature];
    const headers = Object.entries({ ...signed, [HEADERS.signature]: signature, ...wish.headers });
    const sent = headers.filter((header): header is [string, string] => header[1] !== undefined);
    return { headers: Object.fromEntries(sent), body: wish.sentBody ?? body };
  };
}

/** The numbers by which a receiver may know an order. Undefined ones are made up. */
export interface OrderNumbers {
  readonly orderNo?: string | undefined;
  readonly externalOrderNo?: string | undefined;
  readonly channelUserId?: string | undefined;
}

/** The number of no order: the service's numbers have twelve digits. */
const NO_ORDER = '999999999999999';

/** Creates events of a made-up or known order. Each eventId begins with `test-`, so that receivers can ignore them. */
export function createTestEvents({ aesKey }: EventCredentials, run: string, now: number, known: OrderNumbers = {}) {
  const at = formatTime(now);
  let serial = 0;
  const nextId = () => {
    serial += 1;
    return `test-${run}-${serial}`;
  };
  const { orderNo = NO_ORDER, externalOrderNo = `test-${run}`, channelUserId = `test-user-${run}` } = known;
  const isKnown = Object.values(known).some((number) => number !== undefined);
  const order = (more: Partial<OrderPayload> = {}): OrderPayload => ({
    orderNo,
    externalOrderNo,
    createTime: at,
    orderStatus: 'ACTIVE',
    orderSuccessTime: at,
    periodType: 'MONTH',
    period: 1,
    totalCycles: 12,
    totalPaidAmountCent: 1990,
    totalPaidCycles: 1,
    totalRefundAmountCent: 0,
    latestPaymentStatus: 'SUCCESS',
    nextPayTime: at,
    ...more,
  });
  const payment = (more: Partial<PaymentPayload> = {}): PaymentPayload => ({
    orderNo,
    externalOrderNo,
    paymentOrderNo: `${orderNo}0001`,
    channelUserId,
    cycleNo: 1,
    expectPayTime: at,
    paidAt: at,
    amountCent: 1990,
    refundTime: null,
    refundAmountCent: 0,
    paymentStatus: 'SUCCESS',
    agreementShareFlag: true,
    mobileEncrypted: encryptField('13800000000', fromBase64(aesKey) ?? new Uint8Array(32), 'v2'),
    ...more,
  });
  const upcoming = (): UpcomingPayload => ({
    orderNo,
    externalOrderNo,
    channelUserId,
    paymentOrderNo: `${orderNo}0003`,
    cycleNo: 3,
    expectPayTime: at,
    amountCent: 1990,
    settlementMode: 'SVC_DEDUCT',
    agreementShareFlag: true,
    // An unreachable host, so that a user who receives the link by mistake does not see a foreign page.
    redeemUrl: `https://redeem.invalid/redeem?orderNo=${orderNo}`,
  });
  const event = (
    eventType: string,
    data: object,
    more: { readonly eventId?: string; readonly retryNo?: number } = {},
  ) => {
    const { eventId = nextId(), retryNo = 0 } = more;
    return { eventId, body: JSON.stringify({ eventId, eventType, occurredAt: at, retryNo, data }) };
  };
  return { nextId, order, payment, upcoming, event, isKnown };
}

export type TestEvents = ReturnType<typeof createTestEvents>;
