import { MAX_STRING_LENGTH, periodTypes } from '@perennial/wire';

const has = (...fields: readonly string[]): object => ({ required: fields });
/** Names the fields in `properties` too, because linters require it below `not`. */
const hasAll = (...fields: readonly string[]): object => ({
  ...has(...fields),
  properties: Object.fromEntries(fields.map((field) => [field, {}])),
});
const hasNone = (...fields: readonly string[]): object => {
  const [only, ...others] = fields.map((field) => hasAll(field));
  return { not: others.length === 0 ? only : { anyOf: [only, ...others] } };
};
const exactlyOne = (...fields: readonly string[]): object => ({ oneOf: fields.map((field) => has(field)) });
const atLeastOne = (...fields: readonly string[]): object => ({ anyOf: fields.map((field) => has(field)) });
const notTogether = (...fields: readonly string[]): object => ({ not: hasAll(...fields) });

const ONE_ORDER = exactlyOne('orderNo', 'externalOrderNo');
const PAGE_OR_CURSOR = notTogether('page', 'cursor');

const inMode = (settlementMode: string, more: object = {}): object => ({
  properties: { settlementMode: { const: settlementMode }, ...more },
});
const WAYS_TO_SELL = {
  oneOf: [
    {
      title: 'A.1: on a bound card',
      ...inMode('SVC_DEDUCT'),
      ...has('bindOrderNo'),
      ...hasNone('sharedAgreement'),
    },
    {
      title: 'A.2: on a shared agreement',
      ...inMode('SVC_DEDUCT'),
      ...has('sharedAgreement', 'channelUserId', 'mobileEncrypted'),
      ...hasNone('bindOrderNo'),
    },
    {
      title: 'B: the channel charges the user',
      ...inMode('CHANNEL_COLLECT', { channelAgreementRef: { type: 'string', maxLength: MAX_STRING_LENGTH } }),
      ...has('channelUserId', 'mobileEncrypted'),
      ...hasNone('bindOrderNo', 'sharedAgreement'),
    },
  ],
};

/**
 * Rules that concern several fields of a request, by schema name. They are written as JSON Schema, for the OpenAPI
 * document. The service checks the same rules in code, after the single fields.
 */
export const REQUEST_RULES: Readonly<Record<string, object>> = {
  PagingRequest: PAGE_OR_CURSOR,
  UserDataRequest: {
    ...atLeastOne('channelUserId', 'bankCardNoEncrypted', 'certificateNoEncrypted'),
    ...PAGE_OR_CURSOR,
  },
  ReplaceRequest: ONE_ORDER,
  OrdersCreateRequest: WAYS_TO_SELL,
  OrdersQueryRequest: ONE_ORDER,
  OrdersListRequest: PAGE_OR_CURSOR,
  OrdersUnsubscribeRequest: ONE_ORDER,
  EventsListRequest: { allOf: [PAGE_OR_CURSOR, notTogether('orderNo', 'externalOrderNo')] },
  EventsReplayRequest: { oneOf: [has('eventIds'), atLeastOne('from', 'to')] },
  ChannelSetRequest: { anyOf: [has('appSecretEncrypted'), hasNone('overlapHours')] },
  OrdersAdvanceRequest: { allOf: [ONE_ORDER, exactlyOne('cycles', 'to')] },
};

/**
 * Enums that only the documentation states, by `Schema.field`. The service refuses other values with a result code that
 * is not 400001.
 */
export const CLOSED_SETS: Readonly<Record<string, readonly string[]>> = {
  'OrdersCreateRequest.periodType': periodTypes,
};
