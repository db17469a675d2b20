import type { CodeName } from '@perennial/wire';

/** When a result code is answered, and what the caller does then. The pages for developers show it. */
export const CODE_TEXTS: Readonly<Record<CodeName, readonly [when: string, advice: string]>> = {
  SUCCESS: ['the request was carried out', 'do not send it again'],
  PARAM_INVALID: [
    'the body is not a JSON object, holds more than 12,000 values or is nested more than 32 levels deep, or a field is missing, of the wrong type, too long, out of range or at odds with another; or a decrypted value has not the form it must have. The message names the field. Or `X-SVC-Request-Id` has more than 1,024 characters, or `Idempotency-Key` is malformed',
    'correct the request',
  ],
  DECRYPT_FAILED: [
    'an encrypted field cannot be read: prefix, base64, length, padding, tag or UTF-8. The message names the field, and not which of these it is; in the sandbox it says the likely cause. Or it is in `svc_aes_v1` and the channel no longer takes that, which the message says',
    'check `aesKey` and the layout of the ciphertext',
  ],
  BODY_TOO_LARGE: [
    'the body has more than 1,048,576 bytes; the rest is thrown away and the connection is closed',
    'send less',
  ],
  PATH_NOT_FOUND: [
    'there is no such endpoint. In the sandbox the message names the one that was probably meant, and says whether the prefix is missing, a slash is too many or a letter is a capital',
    'check the path',
  ],
  METHOD_NOT_ALLOWED: ['the endpoint was not called with POST', 'use POST'],
  AUTH_HEADER_INVALID: [
    'a required header is missing, sent twice or malformed; the message names it',
    'correct the header',
  ],
  SIGNATURE_INVALID: [
    'the signature does not match, or the app id is unknown. The sandbox says what is probably wrong',
    'compare your text to sign with the worked example; check `appId` and `appSecret`',
  ],
  TIMESTAMP_SKEWED: [
    "`X-SVC-Timestamp` is more than 5 minutes from the service's clock. The sandbox says by how much, or in which unit it is",
    'set your clock, sign anew',
  ],
  NONCE_REUSED: ['this channel has used the nonce within 10 minutes', 'sign anew with a fresh nonce, for resends too'],
  TOKEN_INVALID: [
    'the access token is unknown, was revoked or belongs to another channel',
    'get a new token and resend once',
  ],
  TOKEN_EXPIRED: ['the access token has passed its two hours', 'get a new token and resend once'],
  IP_NOT_ALLOWED: [
    "the channel has an allow-list, and the caller's address is not on it",
    'call from a listed address, or have the list changed',
  ],
  CHANNEL_DISABLED: ['the channel is suspended', 'talk to the operator'],
  IDEMPOTENCY_CONFLICT: [
    'the Idempotency-Key was used with another body or path',
    'use one key for one request; never for two',
  ],
  IDEMPOTENCY_IN_PROGRESS: [
    'the first request with that key is still running after a wait of 10 s, or was cut off by a crash less than 30 s ago; or another request is advancing the order (`sandbox/orders/advance`)',
    'resend later with the same key',
  ],
  RATE_LIMITED: [
    "the channel's rate is used up; the caller failed authentication too often; too many `svc_aes_v1` fields of the channel could not be read, which holds for requests with such fields alone; there is no room for a body of more than 16 KB beside those that are under way; or the channel has 16 answers of more than 65,536 characters under way on this node, and none has ended within 5 s",
    'wait as long as `Retry-After` says',
  ],
  SMS_TOO_FREQUENT: [
    'production: a second code to the same bank mobile within 60 s, or the eleventh within 24 hours, whichever channels had them sent',
    'wait at least a minute',
  ],
  PAYMENT_CHANNEL_NOT_ALLOWED: [
    '`bind-sms`, `orders/create` with `bindOrderNo`, `agreements/replace`: the payment channel is not authorized to this channel, or no longer',
    'choose one that `payment-channels/list` shows',
  ],
  SHARED_AGREEMENT_NOT_ALLOWED: [
    '`orders/create` and `agreements/replace`: the payment channel takes no shared agreements from this channel, or `sharedAgreementNo` is in use elsewhere; on `orders/create` also a payment channel that is not authorized at all',
    'choose one with `shareEnabled`; check the number, and if it is right, ask the operators',
  ],
  AGREEMENT_NOT_FOUND: [
    "`bindOrderNo` is unknown, another channel's, or the number of a shared agreement",
    'check the number',
  ],
  AGREEMENT_NOT_BOUND: [
    '`orders/create` on a binding that is not `BIND_SUCCESS`: not finished, failed, or canceled since',
    'finish the binding first; after a cancellation start a new one',
  ],
  BIND_ORDER_CLOSED: [
    '`bind-sms` or `bind-confirm` on a binding that is bound, replaced or canceled; `bind-confirm` on one that was refused',
    'a bound one needs nothing more; on a refused one have a new code sent; else start a new binding',
  ],
  SMS_CODE_EXPIRED: [
    'no code was sent, it is older than 5 minutes, or it was typed wrong 5 times (production)',
    'have a new code sent: `bind-sms` with the `bindOrderNo`',
  ],
  BANK_NOT_SUPPORTED: [
    '`bind-sms`: `bankCode` is missing where it is needed, or the payment channel does not serve that bank',
    'choose from `supportedBanks`',
  ],
  PAYMENT_CHANNEL_REQUIRED: [
    '`bind-sms`: none is named, and there is neither a default nor exactly one that is authorized',
    'send `paymentChannelCode`',
  ],
  BIND_CHANNEL_CHANGED: [
    '`bind-sms` with a `bindOrderNo` names another payment channel than before',
    'keep the payment channel, or start a new binding',
  ],
  AGREEMENT_REPLACE_NOT_ALLOWED: [
    '`agreements/replace`: the order does not run on a shared agreement, in mode B or A.1',
    'nothing to replace',
  ],
  CHANNEL_USER_MOBILE_MISMATCH: [
    'the user is known under another mobile',
    'send the mobile that the user was first sent with',
  ],
  CHANNEL_MOBILE_OCCUPIED: [
    'the mobile belongs to another user of the channel',
    'one mobile stands for one user: find out who it is',
  ],
  SUBSCRIPTION_NOT_FOUND: ["the order or period is unknown or another channel's", 'check the number'],
  SUBSCRIPTION_ALREADY_EXISTS: [
    '`externalOrderNo` is in use, by whichever channel; precedes every other refusal of a creation',
    '`orders/query` with it: if it is yours and what you wanted, it is done; else choose another number',
  ],
  SUBSCRIPTION_UNSUBSCRIBED: [
    '`agreements/replace` and `sandbox/orders/advance` on an order that is `UNSUBSCRIBED` or `TERMINATED`',
    'nothing more to do on it',
  ],
  SUBSCRIPTION_ALREADY_COMPLETED: [
    '`orders/unsubscribe`, `agreements/replace` and `sandbox/orders/advance` on an order that is `COMPLETED`',
    'nothing more to do on it',
  ],
  PRODUCT_NOT_FOUND: [
    'there is no such product. The message names the field, and the code if it looks like one',
    'choose one that `products/list` shows',
  ],
  PRODUCT_NOT_AUTHORIZED: [
    'the product exists and is not authorized to this channel; the message as above',
    'have it authorized',
  ],
  CYCLE_MISMATCH: [
    '`periodType`, `period` or `totalCycles` differs from the product',
    "leave them out, or send the product's",
  ],
  SUBSCRIPTION_FIRST_PAYMENT_PENDING: [
    '`orders/unsubscribe` and `sandbox/orders/advance` while the order is `INITIALIZING`',
    'ask `orders/query` until it is not, then try again with a new Idempotency-Key',
  ],
  SETTLEMENT_MODE_MISMATCH: [
    '`orders/create`: the product is not sold in this settlement mode; `sandbox/payments/refund`: the channel collects the order, and makes its refunds itself',
    'choose another product or mode, or an order of mode A',
  ],
  INTERNAL_ERROR: [
    'something unexpected; no inner detail is given away',
    'resend after 1 s, 3 s and 9 s, writes with the same Idempotency-Key',
  ],
  UNAVAILABLE: [
    'the database cannot be reached or has no room, or this node is starting or stopping, or serves reads only (`ENGINE=off`), or has more to do than it can do in time, or as many long answers under way as it makes at once, or a clock that is wrong (`/readyz`); on `bind-confirm` also an institution that did not say whether the card is bound',
    'the same; `Retry-After` is sent',
  ],
};
