import type { CodeName } from '@perennial/wire';

/** When the service answers with a result code, and what the caller should do. Shown on the pages for developers. */
export const CODE_TEXTS: Readonly<Record<CodeName, readonly [when: string, advice: string]>> = {
  SUCCESS: ['the request succeeded', 'do not resend it'],
  PARAM_INVALID: [
    'the body is not a JSON object, has more than 12,000 values or is nested more than 32 levels deep; or a field is missing, has the wrong type, is too long, is out of range or contradicts another field; or a decrypted value is malformed. The message names the field. Also: `X-SVC-Request-Id` has more than 1,024 characters, or `Idempotency-Key` is malformed',
    'correct the request',
  ],
  DECRYPT_FAILED: [
    'an encrypted field cannot be decrypted: its prefix, base64, length, padding, tag or UTF-8 is wrong. The message names the field, but not the cause; in the sandbox it adds the probable cause. Or the field uses `svc_aes_v1` and your operator has disabled v1, which the message says',
    'check `aesKey` and the format of the ciphertext',
  ],
  BODY_TOO_LARGE: [
    'the body has more than 1,048,576 bytes. The service discards the rest and closes the connection',
    'send a smaller body',
  ],
  PATH_NOT_FOUND: [
    'there is no such endpoint. In the sandbox the message names the endpoint that was probably meant, and the mistake: a missing prefix, an extra slash or a capital letter',
    'check the path',
  ],
  METHOD_NOT_ALLOWED: ['the endpoint was not called with POST', 'use POST'],
  AUTH_HEADER_INVALID: [
    'a required header is missing, doubled or malformed; the message names it',
    'correct the header',
  ],
  SIGNATURE_INVALID: [
    'the signature does not match, or the app id is unknown. In the sandbox the message names the probable mistake',
    'compare your seven lines with the worked example; check `appId` and `appSecret`',
  ],
  TIMESTAMP_SKEWED: [
    "`X-SVC-Timestamp` is more than 5 minutes from the service's clock. In the sandbox the message gives the difference, or the wrong unit",
    'synchronise your clock and sign again',
  ],
  NONCE_REUSED: [
    'your channel used the nonce within the last 10 minutes',
    'sign again with a new nonce, also for a resend',
  ],
  TOKEN_INVALID: [
    'the access token is unknown, revoked or belongs to another channel',
    'get a new token and resend once',
  ],
  TOKEN_EXPIRED: ['the access token is more than two hours old', 'get a new token and resend once'],
  IP_NOT_ALLOWED: [
    "your channel has an IP allow-list, and the caller's address is not on it",
    'call from a listed address, or ask your operator to change the list',
  ],
  CHANNEL_DISABLED: ['your channel is suspended', 'contact your operator'],
  IDEMPOTENCY_CONFLICT: [
    'the Idempotency-Key was used with another path, or with a body that means something else',
    'use a new key for each request',
  ],
  IDEMPOTENCY_IN_PROGRESS: [
    'the first request with this key is still in progress after a wait of 10 s, or a crash interrupted it less than 30 s ago; or another request is advancing the order (`sandbox/orders/advance`)',
    'resend later with the same key',
  ],
  RATE_LIMITED: [
    'your channel exceeded its rate; or the caller failed authentication too often; or too many `svc_aes_v1` fields of your channel could not be decrypted (refuses only requests with such fields); or too many bodies of more than 16 KB are in progress; or 16 answers of more than 65,536 characters to your channel are in progress on this node, and none ended within 5 s',
    'wait for `Retry-After`, then resend',
  ],
  SMS_TOO_FREQUENT: [
    'in production: a second code to the same bank mobile within 60 s, or an eleventh within 24 hours, counted over all channels',
    'wait at least a minute',
  ],
  PAYMENT_CHANNEL_NOT_ALLOWED: [
    '`bind-sms`, `orders/create` with `bindOrderNo`, `agreements/replace`: your channel is not, or no longer, authorized for [the payment channel](/developers/guides/errors#payment-channels-that-may-not-be-used)',
    'choose one from `payment-channels/list`',
  ],
  SHARED_AGREEMENT_NOT_ALLOWED: [
    '`orders/create` and `agreements/replace`: [the payment channel](/developers/guides/errors#payment-channels-that-may-not-be-used) does not accept shared agreements from your channel, or `sharedAgreementNo` is in use elsewhere',
    'choose one with `shareEnabled`; check the number, and if it is right, ask your operator',
  ],
  AGREEMENT_NOT_FOUND: [
    '`bindOrderNo` is unknown, belongs to another channel, or is the number of a shared agreement',
    'check the number',
  ],
  AGREEMENT_NOT_BOUND: [
    '`orders/create`: the binding is not `BIND_SUCCESS`. It is unfinished, failed or canceled',
    'finish the binding first; if it was canceled, start a new one',
  ],
  BIND_ORDER_CLOSED: [
    '`bind-sms` or `bind-confirm`: the binding is bound, replaced or canceled; `bind-confirm`: the institution refused the binding',
    'if it is bound, do nothing; if it was refused, request a new code; otherwise start a new binding',
  ],
  SMS_CODE_EXPIRED: [
    'no code was sent, or the code is older than 5 minutes, or (in production) 5 wrong codes were submitted',
    'request a new code: call `bind-sms` with the `bindOrderNo`',
  ],
  BANK_NOT_SUPPORTED: [
    '`bind-sms`: `bankCode` is required but missing, or the payment channel does not support that bank',
    'choose one from `supportedBanks`',
  ],
  PAYMENT_CHANNEL_REQUIRED: [
    '`bind-sms`: `paymentChannelCode` is missing, and your channel has no default and not exactly one payment channel',
    'send `paymentChannelCode`',
  ],
  BIND_CHANNEL_CHANGED: [
    '`bind-sms` with a `bindOrderNo`: `paymentChannelCode` differs from that of the binding',
    'keep the payment channel, or start a new binding',
  ],
  AGREEMENT_REPLACE_NOT_ALLOWED: [
    '`agreements/replace`: the order does not use a shared agreement; its mode is A.1 or B',
    'do not call it for this order',
  ],
  CHANNEL_USER_MOBILE_MISMATCH: [
    'the user is registered with another mobile',
    'send the mobile that you first sent for this user',
  ],
  CHANNEL_MOBILE_OCCUPIED: [
    'the mobile belongs to another user of your channel',
    'find out whose mobile it is: within a channel, one mobile belongs to one user',
  ],
  SUBSCRIPTION_NOT_FOUND: ['the order or period is unknown or belongs to another channel', 'check the number'],
  SUBSCRIPTION_ALREADY_EXISTS: [
    '`externalOrderNo` is in use, by your channel or another one. For a number of your own this code takes precedence over every other business code of `orders/create`',
    'call `orders/query` with the number: if it returns the order you wanted, you are done; otherwise choose another number',
  ],
  SUBSCRIPTION_UNSUBSCRIBED: [
    '`agreements/replace` and `sandbox/orders/advance`: the order is `UNSUBSCRIBED` or `TERMINATED`',
    'do nothing: the order has ended',
  ],
  SUBSCRIPTION_ALREADY_COMPLETED: [
    '`orders/unsubscribe`, `agreements/replace` and `sandbox/orders/advance`: the order is `COMPLETED`',
    'do nothing: the order has ended',
  ],
  PRODUCT_NOT_FOUND: [
    'there is no such product. The message names the field, and the code if it is well-formed',
    'choose one from `products/list`',
  ],
  PRODUCT_NOT_AUTHORIZED: [
    'the product exists, but your channel is not authorized for it. The message names the field and the code',
    'ask your operator to authorize it',
  ],
  CYCLE_MISMATCH: [
    "`periodType`, `period` or `totalCycles` differs from the product's",
    "omit them, or send the product's values",
  ],
  SUBSCRIPTION_FIRST_PAYMENT_PENDING: [
    '`orders/unsubscribe` and `sandbox/orders/advance`: the order is `INITIALIZING`',
    'poll `orders/query` until the order has another status, then retry with a new Idempotency-Key',
  ],
  SETTLEMENT_MODE_MISMATCH: [
    '`orders/create`: the product is not sold in this settlement mode; `sandbox/payments/refund`: the order is in mode B, where you make refunds yourself',
    'choose another product or mode; refund only orders of mode A',
  ],
  INTERNAL_ERROR: [
    'an unexpected error; the message has no details',
    'retry after 1 s, 3 s and 9 s; writes with the same Idempotency-Key',
  ],
  UNAVAILABLE: [
    'the database is unreachable or full; or this node is starting, stopping, overloaded or read-only (`ENGINE=off`), already sends the maximum number of long answers, or has a wrong clock (`/readyz`). On `bind-confirm` also: the institution did not say whether the card is bound',
    'wait for `Retry-After`, then retry as for 500001',
  ],
};
