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

/** The event to push, and how the push differs from a valid one. */
export interface PushWish {
  /** The event as JSON. Its eventId must equal `eventId`, which becomes the header. */
  readonly body: string;
  readonly eventId: string;
  /** The secret, in base64, that signs instead of the channel's secret. */
  readonly callbackSecret?: string;
  readonly timestamp?: number;
  /** The path that is signed instead of the receiver's path. */
  readonly path?: string;
  /** Replaces the correct signature. */
  readonly signature?: (right: string) => string;
  /** Headers that replace the signed push's headers. Undefined removes a header. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Sent instead of the signed body. */
  readonly sentBody?: string;
}

/** Returns a function that creates signed pushes, as the service does, for one channel and one receiver path. */
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

/** The numbers by which a receiver may look up an order. A number that is undefined is made up. */
export interface OrderNumbers {
  readonly orderNo?: string | undefined;
  readonly externalOrderNo?: string | undefined;
  readonly channelUserId?: string | undefined;
}

/** A number that no order has: it is above the service's highest order number. */
const NO_ORDER = '999999999999999';

/** Creates test events of a made-up or existing order. Receivers can ignore them: each eventId begins with `test-`. */
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
    // The host does not exist, so that a user who gets the link by mistake does not see a stranger's page.
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
