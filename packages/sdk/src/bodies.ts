import type { EndpointName } from '@perennial/wire';
import type {
  AnswerShapes,
  OrderPayload,
  RequestShapes,
  StoredPaymentPayload,
  StoredUpcomingPayload,
} from './shapes.js';

/** Identifies an order by the service's number or by the channel's own number, never by both. */
export type OrderReference =
  | {
      /** The service's order number. */
      orderNo: string;
      externalOrderNo?: never;
    }
  | {
      orderNo?: never;
      /** Your order number. */
      externalOrderNo: string;
    };

type ByOrder<Body> = Omit<Body, keyof OrderReference> & OrderReference;

type CreateBody = RequestShapes['orders/create'];
type UserField = 'channelUserId' | 'mobile';
type CreateField = 'settlementMode' | 'bindOrderNo' | 'sharedAgreement' | 'channelAgreementRef';
type CreateCommon = Omit<CreateBody, CreateField | UserField>;
/** The fields that identify the user. Required in orders without a bindOrderNo, which would identify the user. */
type WithUser = Required<Pick<CreateBody, UserField>>;

/** A.1: the service debits a card that the user has bound. */
export interface CreateOnBinding extends CreateCommon, Partial<WithUser> {
  /** The service debits the user. */
  settlementMode: 'SVC_DEDUCT';
  /** From `agreements.bindSms`, after `agreements.bindConfirm` has succeeded. */
  bindOrderNo: string;
  sharedAgreement?: never;
  channelAgreementRef?: never;
}

/** A.2: the service debits an agreement that the channel has made and shares. */
export interface CreateOnSharedAgreement extends CreateCommon, WithUser {
  /** The service debits the user. */
  settlementMode: 'SVC_DEDUCT';
  /** Your agreement with the user at a payment institution. */
  sharedAgreement: NonNullable<CreateBody['sharedAgreement']>;
  bindOrderNo?: never;
  channelAgreementRef?: never;
}

/** B: the channel collects. */
export interface CreateCollected extends CreateCommon, WithUser {
  /** You collect the money. */
  settlementMode: 'CHANNEL_COLLECT';
  /** Any text of yours. The service stores it with the order. */
  channelAgreementRef?: string;
  bindOrderNo?: never;
  sharedAgreement?: never;
}

/** Bodies whose types differ from the types of their schemas: they are stricter, except in auth/token. */
interface StricterBodies {
  'auth/token': Partial<RequestShapes['auth/token']>;
  'orders/create': CreateOnBinding | CreateOnSharedAgreement | CreateCollected;
  'orders/query': ByOrder<RequestShapes['orders/query']>;
  'orders/unsubscribe': ByOrder<RequestShapes['orders/unsubscribe']>;
  'agreements/replace': ByOrder<RequestShapes['agreements/replace']>;
  'sandbox/orders/advance': ByOrder<RequestShapes['sandbox/orders/advance']>;
}

export type EventRecord = Omit<AnswerShapes['events/list']['events'][number], 'eventType' | 'data'> &
  (
    | { eventType: 'order.status.changed'; data: OrderPayload }
    | { eventType: 'payment.status.changed'; data: StoredPaymentPayload }
    | { eventType: 'payment.upcoming'; data: StoredUpcomingPayload }
  );

interface StricterAnswers {
  'events/list': Omit<AnswerShapes['events/list'], 'events'> & { events: EventRecord[] };
}

/** The body that a method takes. */
export type BodyOf<Name extends EndpointName> = Name extends keyof StricterBodies
  ? StricterBodies[Name]
  : RequestShapes[Name];

/** The data that a method returns. */
export type AnswerOf<Name extends EndpointName> = Name extends keyof StricterAnswers
  ? StricterAnswers[Name]
  : AnswerShapes[Name];

/** The type of the items in a list answer. */
export type ItemOf<Data> = {
  [Name in keyof Data]: Data[Name] extends readonly (infer Item)[] ? Item : never;
}[keyof Data];
