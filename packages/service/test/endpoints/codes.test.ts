import { CODES, type CodeName, type EndpointName, endpoints } from '@perennial/wire';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  authorizePaymentChannel,
  withdrawPaymentChannel,
} from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { createPaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import { agreementsService, confirmCode, person, sendCode, sentBinding } from '../agreements/support.js';
import { ofFile, stageOfFile } from '../orders/stage-of-file.js';
import type { Reply } from '../support/channel-client.js';
import {
  bindCard,
  collectRequest,
  encrypted,
  mobileOf,
  sharedAgreement,
  sharedRequest,
  unique,
} from '../support/demo.js';

const { on } = stageOfFile();
const production = ofFile(() => agreementsService({ environment: 'production' }));
beforeAll(async () => {
  const { operator } = on.service;
  const product = { productName: 'A product', periodType: 'DAY', period: 1, totalCycles: 1, amountCent: 100 } as const;
  await createProduct(operator, {
    ...product,
    productCode: 'UNAUTHORIZED',
    settlementModes: ['SVC_DEDUCT'],
    benefits: [],
  });
  await createPaymentChannel(operator, {
    code: 'UNAUTHORIZED',
    gateway: 'sandbox',
    displayName: 'Not for this channel',
    supportedBanks: ['*'],
  });
});

const call = (name: EndpointName, body: object): Promise<Reply> => on.channel.call(name, body);
const create = async (body: object): Promise<string> => (await call('orders/create', body)).data.orderNo;

const bindSms = (more: object = {}, channelUserId = unique('user')) =>
  sendCode(on.channel, person({ channelUserId, mobile: mobileOf(channelUserId) }), more);
const confirm = (bindOrderNo: string) => confirmCode(on.channel, bindOrderNo);
const createBound = (bindOrderNo: string, more: object = {}) =>
  call('orders/create', {
    settlementMode: 'SVC_DEDUCT',
    externalOrderNo: unique('order'),
    productCode: 'TEST_SPU_001',
    bindOrderNo,
    ...more,
  });
const createShared = (more: Record<string, unknown>) => call('orders/create', sharedRequest(on.channel, more));
const replace = (orderNo: string, user: string, more: Record<string, unknown> = {}) =>
  call('agreements/replace', { orderNo, newSharedAgreement: sharedAgreement(on.channel, user, more) });

/** The user of the orders below. These orders have shared agreements and are in states that refuse some requests. */
const SOMEBODY = 'somebody';
const orderOf = (more: object = {}) => create(sharedRequest(on.channel, { channelUserId: SOMEBODY, ...more }));
async function unsubscribedOrder(): Promise<string> {
  const orderNo = await orderOf();
  await call('orders/unsubscribe', { orderNo });
  return orderNo;
}
async function completedOrder(): Promise<string> {
  const orderNo = await orderOf();
  await call('sandbox/orders/advance', { orderNo, cycles: 11 });
  return orderNo;
}
async function pendingOrder(): Promise<string> {
  on.institution.onDebit = async () => ({ kind: 'pending' });
  const orderNo = await orderOf();
  on.institution.reset();
  return orderNo;
}

const UNKNOWN = { orderNo: '999999999999' };
const refund = (orderNo: string) => call('sandbox/payments/refund', { paymentOrderNo: `${orderNo}0001` });
const advance = (orderNo: string) => call('sandbox/orders/advance', { orderNo, cycles: 1 });

/** For each endpoint and each of its result codes, a request that gets that code. */
const REFUSED: Readonly<Record<EndpointName, Readonly<Partial<Record<CodeName, () => Promise<Reply>>>>>> = {
  'auth/token': {},
  'products/list': {},
  'payment-channels/list': {},
  'agreements/bind-sms': {
    PRODUCT_NOT_FOUND: () => bindSms({ productCode: 'NOTHING' }),
    PRODUCT_NOT_AUTHORIZED: () => bindSms({ productCode: 'UNAUTHORIZED' }),
    AGREEMENT_NOT_FOUND: () => bindSms({ bindOrderNo: '299999999999' }),
    BIND_ORDER_CLOSED: async () => bindSms({ bindOrderNo: await bindCard(on.channel, 'bound') }, 'bound'),
    BIND_CHANNEL_CHANGED: async () => {
      const { bindOrderNo } = (await bindSms({}, 'changing')).data;
      return bindSms({ bindOrderNo, paymentChannelCode: 'MOCKBANK', bankCode: 'ICBC' }, 'changing');
    },
    PAYMENT_CHANNEL_REQUIRED: async () => {
      const channel = await production.channel({ isDefault: false });
      return sendCode(channel, person());
    },
    PAYMENT_CHANNEL_NOT_ALLOWED: () => bindSms({ paymentChannelCode: 'UNAUTHORIZED' }),
    BANK_NOT_SUPPORTED: () => bindSms({ paymentChannelCode: 'MOCKBANK', bankCode: 'NOBANK' }),
    CHANNEL_USER_MOBILE_MISMATCH: async () => {
      await bindSms({}, 'mismatch');
      return bindSms({ mobileEncrypted: encrypted(on.channel, '13900000001') }, 'mismatch');
    },
    CHANNEL_MOBILE_OCCUPIED: async () => {
      await bindSms({}, 'first');
      return bindSms({ mobileEncrypted: encrypted(on.channel, mobileOf('first')) }, 'second');
    },
    SMS_TOO_FREQUENT: async () => {
      const channel = await production.channel();
      const who = person();
      await sentBinding(channel, who);
      return sendCode(channel, who);
    },
  },
  'agreements/bind-confirm': {
    AGREEMENT_NOT_FOUND: () => confirm('299999999999'),
    BIND_ORDER_CLOSED: async () => confirm(await bindCard(on.channel, unique('user'))),
    SMS_CODE_EXPIRED: async () => {
      const { bindOrderNo } = (await bindSms()).data;
      on.service.clock.advance(5 * 60_000 + 1);
      return confirm(bindOrderNo);
    },
  },
  'agreements/user-data': {},
  'agreements/replace': {
    SUBSCRIPTION_NOT_FOUND: () => replace(UNKNOWN.orderNo, SOMEBODY),
    AGREEMENT_REPLACE_NOT_ALLOWED: async () => {
      const request = collectRequest(on.channel);
      return replace(await create(request), request.channelUserId);
    },
    SUBSCRIPTION_UNSUBSCRIBED: async () => replace(await unsubscribedOrder(), SOMEBODY),
    SUBSCRIPTION_ALREADY_COMPLETED: async () => replace(await completedOrder(), SOMEBODY),
    PAYMENT_CHANNEL_NOT_ALLOWED: async () => replace(await orderOf(), SOMEBODY, { paymentChannelCode: 'UNAUTHORIZED' }),
    SHARED_AGREEMENT_NOT_ALLOWED: async () => replace(await orderOf(), SOMEBODY, { paymentChannelCode: 'MOCKBANK' }),
  },
  'orders/create': {
    SUBSCRIPTION_ALREADY_EXISTS: async () => {
      const request = collectRequest(on.channel);
      await create(request);
      return call('orders/create', request);
    },
    PRODUCT_NOT_FOUND: () => createShared({ productCode: 'NOTHING' }),
    PRODUCT_NOT_AUTHORIZED: () => createShared({ productCode: 'UNAUTHORIZED' }),
    SETTLEMENT_MODE_MISMATCH: async () => {
      const { operator } = on.service;
      const { appId } = on.channel.credentials;
      const product = {
        productName: 'In B alone',
        periodType: 'DAY',
        period: 1,
        totalCycles: 1,
        amountCent: 1,
      } as const;
      const productCode = 'COLLECTED';
      await createProduct(operator, { ...product, productCode, settlementModes: ['CHANNEL_COLLECT'], benefits: [] });
      await authorizeProduct(operator, { appId, productCode });
      return createShared({ productCode });
    },
    CYCLE_MISMATCH: () => createShared({ totalCycles: 13 }),
    AGREEMENT_NOT_FOUND: () => createBound('299999999999'),
    AGREEMENT_NOT_BOUND: async () => createBound((await bindSms()).data.bindOrderNo),
    PAYMENT_CHANNEL_NOT_ALLOWED: async () => {
      const { operator } = on.service;
      const { appId } = on.channel.credentials;
      await authorizePaymentChannel(operator, { appId, code: 'UNAUTHORIZED' });
      const user = unique('user');
      const { bindOrderNo } = (await bindSms({ paymentChannelCode: 'UNAUTHORIZED' }, user)).data;
      await confirm(bindOrderNo);
      await withdrawPaymentChannel(operator, { appId, code: 'UNAUTHORIZED' });
      return createBound(bindOrderNo);
    },
    SHARED_AGREEMENT_NOT_ALLOWED: () => {
      const channelUserId = unique('user');
      const shared = sharedAgreement(on.channel, channelUserId, { paymentChannelCode: 'MOCKBANK' });
      return createShared({ channelUserId, sharedAgreement: shared });
    },
    CHANNEL_USER_MOBILE_MISMATCH: async () => {
      const { channelUserId } = collectRequest(on.channel);
      await create(collectRequest(on.channel, { channelUserId }));
      const mobileEncrypted = encrypted(on.channel, '13900000002');
      return call('orders/create', collectRequest(on.channel, { channelUserId, mobileEncrypted }));
    },
    CHANNEL_MOBILE_OCCUPIED: async () => {
      const request = collectRequest(on.channel);
      await create(request);
      return call('orders/create', collectRequest(on.channel, { mobileEncrypted: request.mobileEncrypted }));
    },
  },
  'orders/query': { SUBSCRIPTION_NOT_FOUND: () => call('orders/query', UNKNOWN) },
  'orders/list': {},
  'orders/unsubscribe': {
    SUBSCRIPTION_NOT_FOUND: () => call('orders/unsubscribe', UNKNOWN),
    SUBSCRIPTION_ALREADY_COMPLETED: async () => call('orders/unsubscribe', { orderNo: await completedOrder() }),
    SUBSCRIPTION_FIRST_PAYMENT_PENDING: async () => call('orders/unsubscribe', { orderNo: await pendingOrder() }),
  },
  'payments/query': {
    SUBSCRIPTION_NOT_FOUND: () => call('payments/query', { paymentOrderNo: `${UNKNOWN.orderNo}0001` }),
  },
  'events/list': { SUBSCRIPTION_NOT_FOUND: () => call('events/list', UNKNOWN) },
  'events/replay': {},
  'sandbox/orders/advance': {
    SUBSCRIPTION_NOT_FOUND: () => advance(UNKNOWN.orderNo),
    SUBSCRIPTION_UNSUBSCRIBED: async () => advance(await unsubscribedOrder()),
    SUBSCRIPTION_ALREADY_COMPLETED: async () => advance(await completedOrder()),
    SUBSCRIPTION_FIRST_PAYMENT_PENDING: async () => advance(await pendingOrder()),
  },
  'sandbox/payments/refund': {
    SUBSCRIPTION_NOT_FOUND: () => refund(UNKNOWN.orderNo),
    SETTLEMENT_MODE_MISMATCH: async () => refund(await create(collectRequest(on.channel))),
  },
  'sandbox/events/pull': {},
};

// The reverse is checked by the client of all tests (support/channel-client.ts): an endpoint answers with no other
// codes.
describe.each(endpoints)('$name answers each of its own codes', ({ name, codes }) => {
  const refused = REFUSED[name as EndpointName];

  it('REFUSED has a request for each code', () => {
    expect(Object.keys(refused)).toEqual(codes);
  });

  for (const code of codes) {
    it(`${CODES[code].code} ${code}`, async () => {
      const reply = await refused[code]?.();
      expect([reply?.status, reply?.code]).toEqual([CODES[code].http, CODES[code].code]);
    });
  }
});
