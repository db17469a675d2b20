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

/** How a push differs from one that is as it should be. */
export interface PushWish {
  /** JSON; the eventId in it is the header's. */
  readonly body: string;
  readonly eventId: string;
  /** In base64, in place of the channel's. */
  readonly callbackSecret?: string;
  readonly timestamp?: number;
  /** The path that is signed, in place of the receiver's. */
  readonly path?: string;
  /** What is sent in place of the right signature. */
  readonly signature?: (right: string) => string;
  /** Replace headers once everything is signed; undefined leaves one out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Sent in place of the body that was signed. */
  readonly sentBody?: string;
}

/** Makes pushes as the service does, for a channel and a path. */
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

/** What a receiver may know an order by. Undefined: made up. */
export interface OrderNumbers {
  readonly orderNo?: string | undefined;
  readonly externalOrderNo?: string | undefined;
  readonly channelUserId?: string | undefined;
}

/** The number of no order: those of the service have twelve digits for a long time to come. */
const NO_ORDER = '999999999999999';

/**
 * Events of a made-up order, or of one that the receiver knows. Each has an eventId that begins with `test-`, so that a receiver can
 * leave them alone.
 */
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
    // Nobody is there: a user who is sent it by mistake sees no page of somebody else.
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
