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

/** How the institution treats an agreement: mostly well, sometimes late, with a lost answer, or not at all (docs/bridge.md). */
const TAILS = ['good', 'good', 'good', 'good', 'good', 'good', 'good', '0004', '0006', '0002'];

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

export function deductedCreate(channel) {
  const seal = sealFor(channel);
  const order = newOrder(seal);
  const sharedAgreement = {
    paymentChannelCode: BANK,
    sharedAgreementNo: `${order.externalOrderNo}-${TAILS[randomInt(TAILS.length)]}`,
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
