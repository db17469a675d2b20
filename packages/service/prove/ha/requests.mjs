import { randomInt, randomUUID } from 'node:crypto';
import { encryptField } from '@perennial/wire';

/** The payment channel of mode A: the reference institution behind the bridge. */
export const BANK = 'HABANK';

/**
 * The product of all orders. It has few periods, so that an unsubscription does not void hundreds of periods. Each
 * period has one benefit.
 */
export const PRODUCT = {
  productCode: 'HA_DAILY',
  productName: 'By the day',
  settlementModes: ['SVC_DEDUCT', 'CHANNEL_COLLECT'],
  periodType: 'DAY',
  period: 1,
  totalCycles: 6,
  amountCent: 100,
  benefits: [{ benefitCode: 'HA_PASS', name: 'Pass', faceValueCent: 100 }],
};

/**
 * Agreement tails that select the institution's behaviour (docs/bridge.md). About half of them are `good`: the
 * institution simply succeeds. With the others it answers late, not at all or with a refusal; its notices come twice,
 * late or forged; a refund is slow or refused; or it ends the agreement after the first debit.
 */
const TAILS = [
  ...Array.from({ length: 14 }, () => 'good'),
  '0002',
  '0004',
  '0006',
  '0008',
  '0010',
  '0011',
  '0012',
  '0018',
  '0019',
  '0020',
  '0020',
  '0021',
  '0023',
];

let made = 0;

/** Returns an order with a new number, user and mobile. */
function newOrder(seal) {
  made += 1;
  return {
    externalOrderNo: `ha-${made}`,
    productCode: PRODUCT.productCode,
    channelUserId: `user-${made}`,
    mobileEncrypted: seal(`1${String(made).padStart(10, '0')}`),
  };
}

const sealFor =
  ({ aesKey }) =>
  (text) =>
    encryptField(text, Buffer.from(aesKey, 'base64'));

/** Returns a write that is retried until it is acknowledged. */
const write = (kind, endpoint, body, about) => ({ kind, endpoint, body, key: randomUUID(), about });

export function collectedCreate(channel) {
  const body = { ...newOrder(sealFor(channel)), settlementMode: 'CHANNEL_COLLECT' };
  return write('create B', 'orders/create', body, body.externalOrderNo);
}

export function deductedCreate(channel, tail = TAILS[randomInt(TAILS.length)]) {
  const seal = sealFor(channel);
  const order = newOrder(seal);
  const sharedAgreement = {
    paymentChannelCode: BANK,
    sharedAgreementNo: `${order.externalOrderNo}-${tail}`,
    bankCardNoEncrypted: seal('6222020000001234567'),
    bankMobileEncrypted: seal('13800000001'),
    certificateNoEncrypted: seal('110101199001011234'),
    realNameEncrypted: seal('张三'),
    channelUserId: order.channelUserId,
  };
  return write(
    'create A',
    'orders/create',
    { ...order, settlementMode: 'SVC_DEDUCT', sharedAgreement },
    order.externalOrderNo,
  );
}

/** Returns the requests of an order whose user binds a card at the service: code, confirmation, order. */
export function boundCreate(channel) {
  const seal = sealFor(channel);
  const { mobileEncrypted, ...order } = newOrder(seal);
  const { externalOrderNo, productCode, channelUserId } = order;
  const card = {
    channelUserId,
    mobileEncrypted,
    bankCardNoEncrypted: seal(`62220200${String(made).padStart(7, '0')}1234`),
    certificateNoEncrypted: seal('110101199001011234'),
    realNameEncrypted: seal('张三'),
    bankMobileEncrypted: seal(`1${String(made).padStart(9, '0')}1`),
  };
  const smsCodeEncrypted = seal('123456');
  return {
    sendCode: write('bind', 'agreements/bind-sms', card, externalOrderNo),
    confirm: (bindOrderNo) =>
      write('confirm', 'agreements/bind-confirm', { bindOrderNo, smsCodeEncrypted }, externalOrderNo),
    order: (bindOrderNo) =>
      write(
        'create A.1',
        'orders/create',
        { externalOrderNo, productCode, settlementMode: 'SVC_DEDUCT', bindOrderNo },
        externalOrderNo,
      ),
  };
}

export const unsubscribe = (orderNo) =>
  write('unsubscribe', 'orders/unsubscribe', { orderNo, reason: 'fail-over' }, orderNo);

let refunds = 0;

/** Returns a refund request. Its unique reason identifies the refund later. */
export function refund(paymentOrderNo, amountCent) {
  refunds += 1;
  const reason = `refund-${refunds}`;
  return write('refund', 'sandbox/payments/refund', { paymentOrderNo, amountCent, reason }, reason);
}

/** Returns a claim of the first benefit of the first period, on the redemption page that the channel's link opens. */
export function claim({ orderNo, redeemUrl }) {
  const { pathname, search } = new URL(redeemUrl);
  return { ...write('claim', 'redeem/claim', undefined, `${orderNo}/1/1`), path: pathname + search, benefit: '1-1' };
}
