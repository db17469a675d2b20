import type { RejectionName } from './rejection.js';
import {
  BindConfirmData,
  BindConfirmRequest,
  BindSmsData,
  BindSmsRequest,
  ReplaceData,
  ReplaceRequest,
  UserDataData,
  UserDataRequest,
  userDataChecks,
} from './schemas/agreements.js';
import { AuthTokenRequest, Token } from './schemas/auth.js';
import { ChannelSetData, ChannelSetRequest, channelSetChecks } from './schemas/channel-settings.js';
import { PagingRequest, pagingChecks } from './schemas/common.js';
import {
  EventsListData,
  EventsListRequest,
  EventsReplayData,
  EventsReplayRequest,
  eventsListChecks,
  eventsReplayChecks,
} from './schemas/events-history.js';
import { EventsPullData, EventsPullRequest, eventsPullChecks } from './schemas/events-pull.js';
import { EventsTestData, EventsTestRequest } from './schemas/events-test.js';
import { orderReferenceChecks } from './schemas/order-reference.js';
import {
  MainOrder,
  OrdersCreateRequest,
  OrdersListData,
  OrdersListRequest,
  OrdersQueryRequest,
  OrdersUnsubscribeRequest,
} from './schemas/orders.js';
import { OrdersAdvanceRequest, ordersAdvanceChecks } from './schemas/orders-advance.js';
import { ordersCreateChecks } from './schemas/orders-create-checks.js';
import { PaymentChannelsListData } from './schemas/payment-channels.js';
import { PaymentDetail, PaymentsQueryRequest } from './schemas/payments.js';
import { PaymentsRefundData, PaymentsRefundRequest } from './schemas/payments-refund.js';
import { ProductsListData } from './schemas/products.js';
import { RequestsListData, RequestsListRequest } from './schemas/requests-history.js';
import type { AnySchema, Static } from './schemas/type.js';

export const PATH_PREFIX = '/openapi/v1/';

interface EndpointFacts<Request extends AnySchema, Response extends AnySchema> {
  readonly summary: string;
  readonly request: Request;
  /** The schema of `data` on success. */
  readonly response: Response;
  /** Checks further rules after the schema. It is a method, so that all endpoints fit one table type. */
  check?(body: Static<Request>): void;
}

/** Facts with a default. */
interface UsualFacts {
  /** True if the endpoint requires the Authorization header. Default true. */
  readonly token: boolean;
  /** True if the endpoint uses the Idempotency-Key. Default false. */
  readonly write: boolean;
  /** The endpoint's own codes, in order of precedence. Common codes, such as PARAM_INVALID, are not listed. */
  readonly codes: readonly RejectionName[];
}

export interface Endpoint<
  Name extends string = string,
  Request extends AnySchema = AnySchema,
  Response extends AnySchema = AnySchema,
> extends EndpointFacts<Request, Response>,
    UsualFacts {
  readonly name: Name;
  readonly path: `${typeof PATH_PREFIX}${Name}`;
  /** True if the endpoint exists only in a sandbox. */
  readonly sandboxOnly?: boolean;
}

function endpoint<const Name extends string, Request extends AnySchema, Response extends AnySchema>(
  name: Name,
  facts: EndpointFacts<Request, Response> & Partial<UsualFacts>,
): Endpoint<Name, Request, Response> {
  const sandboxOnly = name.startsWith('sandbox/');
  return { name, path: `${PATH_PREFIX}${name}`, sandboxOnly, token: true, write: false, codes: [], ...facts };
}

export const ENDPOINTS = {
  'auth/token': endpoint('auth/token', {
    summary: 'Issue an access token',
    token: false,
    request: AuthTokenRequest,
    response: Token,
  }),
  'products/list': endpoint('products/list', {
    summary: 'List the products that the channel may sell',
    request: PagingRequest,
    response: ProductsListData,
    check: pagingChecks,
  }),
  'payment-channels/list': endpoint('payment-channels/list', {
    summary: 'List the payment channels that the channel may use',
    request: PagingRequest,
    response: PaymentChannelsListData,
    check: pagingChecks,
  }),
  'agreements/bind-sms': endpoint('agreements/bind-sms', {
    summary: 'Start binding a card: send the verification code (A.1)',
    write: true,
    request: BindSmsRequest,
    response: BindSmsData,
    codes: [
      'PRODUCT_NOT_FOUND',
      'PRODUCT_NOT_AUTHORIZED',
      'AGREEMENT_NOT_FOUND',
      'BIND_ORDER_CLOSED',
      'BIND_CHANNEL_CHANGED',
      'PAYMENT_CHANNEL_REQUIRED',
      'PAYMENT_CHANNEL_NOT_ALLOWED',
      'BANK_NOT_SUPPORTED',
      'CHANNEL_USER_MOBILE_MISMATCH',
      'CHANNEL_MOBILE_OCCUPIED',
      'SMS_TOO_FREQUENT',
    ],
  }),
  'agreements/bind-confirm': endpoint('agreements/bind-confirm', {
    summary: 'Finish binding a card with the verification code (A.1)',
    write: true,
    request: BindConfirmRequest,
    response: BindConfirmData,
    codes: ['AGREEMENT_NOT_FOUND', 'BIND_ORDER_CLOSED', 'SMS_CODE_EXPIRED'],
  }),
  'agreements/user-data': endpoint('agreements/user-data', {
    summary: "List a user's bound cards, encrypted",
    request: UserDataRequest,
    response: UserDataData,
    check: userDataChecks,
  }),
  'agreements/replace': endpoint('agreements/replace', {
    summary: 'Move an order to another shared agreement (A.2)',
    write: true,
    request: ReplaceRequest,
    response: ReplaceData,
    check: orderReferenceChecks,
    codes: [
      'SUBSCRIPTION_NOT_FOUND',
      'AGREEMENT_REPLACE_NOT_ALLOWED',
      'SUBSCRIPTION_UNSUBSCRIBED',
      'SUBSCRIPTION_ALREADY_COMPLETED',
      'PAYMENT_CHANNEL_NOT_ALLOWED',
      'SHARED_AGREEMENT_NOT_ALLOWED',
    ],
  }),
  'orders/create': endpoint('orders/create', {
    summary: 'Create a subscription',
    write: true,
    request: OrdersCreateRequest,
    response: MainOrder,
    check: ordersCreateChecks,
    codes: [
      'SUBSCRIPTION_ALREADY_EXISTS',
      'PRODUCT_NOT_FOUND',
      'PRODUCT_NOT_AUTHORIZED',
      'SETTLEMENT_MODE_MISMATCH',
      'CYCLE_MISMATCH',
      'AGREEMENT_NOT_FOUND',
      'AGREEMENT_NOT_BOUND',
      'PAYMENT_CHANNEL_NOT_ALLOWED',
      'SHARED_AGREEMENT_NOT_ALLOWED',
      'CHANNEL_USER_MOBILE_MISMATCH',
      'CHANNEL_MOBILE_OCCUPIED',
    ],
  }),
  'orders/query': endpoint('orders/query', {
    summary: 'Read one order',
    request: OrdersQueryRequest,
    response: MainOrder,
    check: orderReferenceChecks,
    codes: ['SUBSCRIPTION_NOT_FOUND'],
  }),
  'orders/list': endpoint('orders/list', {
    summary: "List a user's orders",
    request: OrdersListRequest,
    response: OrdersListData,
    check: pagingChecks,
  }),
  'orders/unsubscribe': endpoint('orders/unsubscribe', {
    summary: 'End a subscription',
    write: true,
    request: OrdersUnsubscribeRequest,
    response: MainOrder,
    check: orderReferenceChecks,
    codes: ['SUBSCRIPTION_NOT_FOUND', 'SUBSCRIPTION_ALREADY_COMPLETED', 'SUBSCRIPTION_FIRST_PAYMENT_PENDING'],
  }),
  'payments/query': endpoint('payments/query', {
    summary: 'Read one period of an order',
    request: PaymentsQueryRequest,
    response: PaymentDetail,
    codes: ['SUBSCRIPTION_NOT_FOUND'],
  }),
  'events/list': endpoint('events/list', {
    summary: 'List events with their delivery status',
    request: EventsListRequest,
    response: EventsListData,
    check: eventsListChecks,
    codes: ['SUBSCRIPTION_NOT_FOUND'],
  }),
  'events/replay': endpoint('events/replay', {
    summary: 'Send events again',
    write: true,
    request: EventsReplayRequest,
    response: EventsReplayData,
    check: eventsReplayChecks,
  }),
  'sandbox/orders/advance': endpoint('sandbox/orders/advance', {
    summary: 'Run the next periods of an order now',
    write: true,
    request: OrdersAdvanceRequest,
    response: MainOrder,
    check: ordersAdvanceChecks,
    codes: [
      'SUBSCRIPTION_NOT_FOUND',
      'SUBSCRIPTION_UNSUBSCRIBED',
      'SUBSCRIPTION_ALREADY_COMPLETED',
      'SUBSCRIPTION_FIRST_PAYMENT_PENDING',
    ],
  }),
  'sandbox/payments/refund': endpoint('sandbox/payments/refund', {
    summary: 'Refund a period',
    write: true,
    request: PaymentsRefundRequest,
    response: PaymentsRefundData,
    codes: ['SUBSCRIPTION_NOT_FOUND', 'SETTLEMENT_MODE_MISMATCH'],
  }),
  'sandbox/events/pull': endpoint('sandbox/events/pull', {
    summary: "Get the channel's events as they are pushed",
    request: EventsPullRequest,
    response: EventsPullData,
    check: eventsPullChecks,
  }),
  'sandbox/events/test': endpoint('sandbox/events/test', {
    summary: 'Send a test push to the callback address',
    request: EventsTestRequest,
    response: EventsTestData,
  }),
  'sandbox/requests/list': endpoint('sandbox/requests/list', {
    summary: "List the channel's requests with their results",
    request: RequestsListRequest,
    response: RequestsListData,
  }),
  'sandbox/channel/set': endpoint('sandbox/channel/set', {
    summary: "Read or change the channel's own settings and secrets",
    request: ChannelSetRequest,
    response: ChannelSetData,
    check: channelSetChecks,
  }),
} as const;

export type EndpointName = keyof typeof ENDPOINTS;
export type RequestOf<Name extends EndpointName> = Static<(typeof ENDPOINTS)[Name]['request']>;
export type DataOf<Name extends EndpointName> = Static<(typeof ENDPOINTS)[Name]['response']>;

export const endpoints: readonly Endpoint[] = Object.values(ENDPOINTS);
