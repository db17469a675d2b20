import { randomInt, randomUUID } from 'node:crypto';
import { encryptField } from '@perennial/wire';

/** The payment channel of mode A: the reference institution behind the bridge. */
export const BANK = 'HABANK';

/** Few periods, so that an unsubscribe does not void hundreds; one benefit for each. */
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
 * How the institution treats an agreement, by its last characters (docs/bridge.md): mostly well; sometimes it answers late, not at
 * all or with a refusal, its notices come twice, late or forged, it takes its time with a refund or refuses it, or it ends the
 * agreement after the first debit.
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

/** Number, user and mobile are all new to the database. */
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

/** A write that is to be acknowledged, however often it has to be sent. */
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

export const unsubscribe = (orderNo) =>
  write('unsubscribe', 'orders/unsubscribe', { orderNo, reason: 'fail-over' }, orderNo);

let refunds = 0;

/** Its reason is its name: by that it is found again. */
export function refund(paymentOrderNo, amountCent) {
  refunds += 1;
  const reason = `refund-${refunds}`;
  return write('refund', 'sandbox/payments/refund', { paymentOrderNo, amountCent, reason }, reason);
}

/** The first benefit of the first period, claimed by the user at the link that the channel was given. */
export function claim({ orderNo, redeemUrl }) {
  const { pathname, search } = new URL(redeemUrl);
  return { ...write('claim', 'redeem/claim', undefined, `${orderNo}/1/1`), path: pathname + search, benefit: '1-1' };
}
