import type {
  AuthTokenRequest,
  DataOf,
  EndpointName,
  EventRecord as EventRecordOnTheWire,
  OrderPayload,
  OrdersCreateRequest,
  RequestOf,
  StoredPaymentPayload,
  StoredUpcomingPayload,
} from '@perennial/wire';
import type { Plain } from './fields.js';

/** Identifies an order by the service's number or by the channel's own number, never by both. */
export type OrderReference =
  | { orderNo: string; externalOrderNo?: never }
  | { orderNo?: never; externalOrderNo: string };

type ByOrder<Body> = Omit<Body, keyof OrderReference> & OrderReference;

type CreateBody = Plain<OrdersCreateRequest>;
type CreateCommon = Omit<CreateBody, 'settlementMode' | 'bindOrderNo' | 'sharedAgreement' | 'channelAgreementRef'>;
/** The fields that identify the user. Required in orders without a bindOrderNo, which would identify the user. */
type WithUser = Required<Pick<CreateBody, 'channelUserId' | 'mobile'>>;

/** A.1: the service debits a card that the user has bound. */
export type CreateOnBinding = CreateCommon & {
  settlementMode: 'SVC_DEDUCT';
  bindOrderNo: string;
  sharedAgreement?: never;
  channelAgreementRef?: never;
};

/** A.2: the service debits an agreement that the channel has made and shares. */
export type CreateOnSharedAgreement = CreateCommon &
  WithUser & {
    settlementMode: 'SVC_DEDUCT';
    sharedAgreement: NonNullable<CreateBody['sharedAgreement']>;
    bindOrderNo?: never;
    channelAgreementRef?: never;
  };

/** B: the channel collects. */
export type CreateCollected = CreateCommon &
  WithUser & {
    settlementMode: 'CHANNEL_COLLECT';
    channelAgreementRef?: string;
    bindOrderNo?: never;
    sharedAgreement?: never;
  };

/** Bodies whose types differ from the types of their schemas: they are stricter, except in auth/token. */
interface StricterBodies {
  'auth/token': Partial<AuthTokenRequest>;
  'orders/create': CreateOnBinding | CreateOnSharedAgreement | CreateCollected;
  'orders/query': ByOrder<RequestOf<'orders/query'>>;
  'orders/unsubscribe': ByOrder<RequestOf<'orders/unsubscribe'>>;
  'agreements/replace': ByOrder<Plain<RequestOf<'agreements/replace'>>>;
  'sandbox/orders/advance': ByOrder<RequestOf<'sandbox/orders/advance'>>;
}

export type EventRecord = Omit<EventRecordOnTheWire, 'eventType' | 'data'> &
  (
    | { eventType: 'order.status.changed'; data: OrderPayload }
    | { eventType: 'payment.status.changed'; data: StoredPaymentPayload }
    | { eventType: 'payment.upcoming'; data: StoredUpcomingPayload }
  );

interface StricterAnswers {
  'events/list': Omit<DataOf<'events/list'>, 'events'> & { events: EventRecord[] };
}

/** The body that a method takes. */
export type BodyOf<Name extends EndpointName> = Name extends keyof StricterBodies
  ? StricterBodies[Name]
  : Plain<RequestOf<Name>>;

/** The data that a method returns. */
export type AnswerOf<Name extends EndpointName> = Name extends keyof StricterAnswers
  ? StricterAnswers[Name]
  : Plain<DataOf<Name>>;

/** The type of the items in a list answer. */
export type ItemOf<Data> = {
  [Name in keyof Data]: Data[Name] extends readonly (infer Item)[] ? Item : never;
}[keyof Data];
