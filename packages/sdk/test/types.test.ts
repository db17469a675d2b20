import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expectTypeOf, it } from 'vitest';
import {
  type AnswerOf,
  type BodyOf,
  createFetchReceiver,
  createNodeReceiver,
  type EncryptedWebhookEvent,
  type EventRecord,
  isPerennialError,
  PerennialClient,
  type PerennialError,
  verifyWebhook,
  type WebhookEvent,
} from '../src/index.js';
import { SECRETS } from './support.js';

/** Never calls the function: only the compiler checks its types. */
const never = (_: () => unknown) => undefined;

declare const secret: string;
const client = new PerennialClient({ baseUrl: 'https://pay.example', appId: 'test_demo', ...SECRETS });
const common = { externalOrderNo: 'o', productCode: 'p' };
const user = { channelUserId: 'u', mobile: '1' };
const sharedAgreement = {
  paymentChannelCode: 'c',
  sharedAgreementNo: 'n',
  bankCardNo: '1',
  bankMobile: '1',
  certificateNo: '1',
  realName: '1',
  channelUserId: 'u',
};

describe('types', () => {
  it('an order is created in one of three ways, and in no mixture of them', () => {
    const deducted = { ...common, settlementMode: 'SVC_DEDUCT' } as const;
    const collected = { ...common, settlementMode: 'CHANNEL_COLLECT' } as const;
    never(() => client.orders.create({ ...deducted, bindOrderNo: 'b' }));
    never(() => client.orders.create({ ...deducted, ...user, sharedAgreement }));
    never(() => client.orders.create({ ...collected, ...user, channelAgreementRef: 'r' }));
    // @ts-expect-error: of two agreements one too many
    never(() => client.orders.create({ ...deducted, ...user, bindOrderNo: 'b', sharedAgreement }));
    // @ts-expect-error: no agreement at all
    never(() => client.orders.create({ ...deducted, ...user }));
    // @ts-expect-error: the channel collects, so there is no binding
    never(() => client.orders.create({ ...collected, ...user, bindOrderNo: 'b' }));
    // @ts-expect-error: nobody knows the user
    never(() => client.orders.create(collected));
    // @ts-expect-error: fields are plain
    never(() => client.orders.create({ ...collected, channelUserId: 'u', mobileEncrypted: '1' }));
    const newSharedAgreement = { ...sharedAgreement, realNameEncrypted: 'x', realName: undefined };
    // @ts-expect-error: also those further inside
    never(() => client.agreements.replace({ orderNo: '1', newSharedAgreement }));
  });

  it('an order is named in one of two ways', () => {
    never(() => client.orders.query({ externalOrderNo: '1' }));
    // @ts-expect-error: in neither
    never(() => client.orders.query({}));
    // @ts-expect-error: in both
    never(() => client.orders.query({ orderNo: '1', externalOrderNo: '1' }));
    // @ts-expect-error: an identifier is text
    never(() => client.payments.query({ paymentOrderNo: 1 }));
  });

  it('fields are plain on both sides', () => {
    expectTypeOf<BodyOf<'agreements/bind-confirm'>>().toEqualTypeOf<{ bindOrderNo: string; smsCode: string }>();
    expectTypeOf<BodyOf<'agreements/bind-sms'>>().toHaveProperty('certificateNo').toEqualTypeOf<string>();
    expectTypeOf<BodyOf<'agreements/user-data'>>().not.toHaveProperty('bankCardNoEncrypted');
    expectTypeOf<AnswerOf<'agreements/user-data'>['bankDataList'][number]>().toHaveProperty('realName').toBeString();
    expectTypeOf(client.auth.token).parameter(0).toBeNullable();
    expectTypeOf(client.paymentChannels.list).returns.resolves.toHaveProperty('items');
    expectTypeOf(client.sandbox.orders.advance).returns.resolves.toHaveProperty('redeemUrl');
  });

  it('lists are iterators of what they list', () => {
    expectTypeOf(client.orders.listAll({ channelUserId: 'u' })).toExtend<AsyncIterable<{ orderNo: string }>>();
    expectTypeOf(client.products.listAll()).toExtend<AsyncIterable<{ productCode: string }>>();
    expectTypeOf(client.events.listAll()).toExtend<AsyncIterable<EventRecord>>();
    expectTypeOf(client.agreements.userDataAll({ channelUserId: 'u' })).toExtend<
      AsyncIterable<{ bankCardNo: string }>
    >();
    // @ts-expect-error: the user is needed
    never(() => client.orders.listAll());
    // @ts-expect-error: where it begins is not asked
    never(() => client.orders.listAll({ channelUserId: 'u', page: 2 }));
    // @ts-expect-error: one order is no list
    never(() => client.orders.queryAll);
  });

  it('errors are narrowed by their name', () => {
    const error = new Error() as unknown;
    if (isPerennialError(error, 'SUBSCRIPTION_NOT_FOUND', 'PARAM_INVALID')) {
      expectTypeOf(error).toEqualTypeOf<PerennialError<'SUBSCRIPTION_NOT_FOUND' | 'PARAM_INVALID'>>();
      expectTypeOf(error.name).toEqualTypeOf<'SUBSCRIPTION_NOT_FOUND' | 'PARAM_INVALID'>();
    }
    // @ts-expect-error: there is no such code
    never(() => isPerennialError(error, 'NO_SUCH_CODE'));
  });

  it('events are distinguished by type, and plain with a key', () => {
    const given = { callbackSecret: '', path: '/', headers: {}, rawBody: '' };
    never(() => {
      expectTypeOf(verifyWebhook(given)).toEqualTypeOf<EncryptedWebhookEvent>();
      expectTypeOf(verifyWebhook({ ...given, aesKey: secret })).toEqualTypeOf<WebhookEvent>();
      const event = verifyWebhook({ ...given, aesKey: secret });
      if (event.eventType === 'payment.status.changed') {
        expectTypeOf(event.data.mobile).toEqualTypeOf<string | null>();
        // @ts-expect-error: of the order's events
        event.data.orderStatus;
      } else if (event.eventType === 'payment.upcoming') expectTypeOf(event.data.redeemUrl).toEqualTypeOf<string>();
      else expectTypeOf(event.data.orderStatus).toExtend<string>();
    });
    never(() => {
      const onError = () => undefined;
      const receiver = createNodeReceiver({
        callbackSecret: secret,
        aesKey: secret,
        onError,
        onEvent: (event) => expectTypeOf(event).toEqualTypeOf<WebhookEvent>(),
      });
      expectTypeOf(receiver).toBeCallableWith({} as IncomingMessage, {} as ServerResponse);
      const fetched = createFetchReceiver({
        callbackSecret: secret,
        onError,
        onEvent: (event) => expectTypeOf(event).toEqualTypeOf<EncryptedWebhookEvent>(),
      });
      expectTypeOf(fetched).toExtend<(request: Request) => Promise<Response>>();
    });
  });
});
