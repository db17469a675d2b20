import { encryptionVersions, eventTypes, MAX_OVERLAP_HOURS, periodTypes, settlementModes, Type } from '@perennial/wire';
import { TONES } from '../../redeem/brand/tones.js';
import { cents, changed, count, integerOrNull, oneOf, text, textOrNull, time, timeOrNull } from './parts.js';

const callbackType = oneOf('*', ...eventTypes);
const strings = Type.Array(Type.String());

/** A stored picture. `file` is its name in /redeem/images/{file} and `GET /images/{file}`. */
const image = Type.Object({ file: Type.String(), mediaType: Type.String(), bytes: count });
const brandingFields = {
  displayName: textOrNull,
  logo: Type.OrNull(image),
  /** Six hexadecimal digits. */
  accent: textOrNull,
  support: textOrNull,
  termsUrl: textOrNull,
  shopUrl: textOrNull,
};

export const channel = Type.Object({
  channelId: Type.String(),
  appId: Type.String(),
  name: Type.String(),
  status: oneOf('ACTIVE', 'SUSPENDED'),
  ratePerSecond: count,
  rateBurst: count,
  ipAllowList: strings,
  voidedPeriodEvents: Type.Boolean(),
  /** The number of days before a period at which payment.upcoming is sent. Null: it is not sent. */
  upcomingNoticeDays: Type.OrNull(count),
  frameOrigins: strings,
  answerEncryption: oneOf(...encryptionVersions),
  acceptsV1: Type.Boolean(),
  callbackUrls: Type.Array(Type.Object({ eventType: callbackType, url: Type.String() })),
  pausedEvents: Type.Array(callbackType),
  products: strings,
  paymentChannels: Type.Array(
    Type.Object({ code: Type.String(), isDefault: Type.Boolean(), shareEnabled: Type.Boolean() }),
  ),
  branding: Type.Object(brandingFields),
  /** The time until which the former app secret stays valid. Null if there is none. */
  formerSecretUntil: timeOrNull,
  createdAt: time,
});
export const channels = Type.Object({ channels: Type.Array(channel) });
export const channelChanged = Type.Object({ channel, changed });
/** A rule of the institution that the product or its agreements may break. */
export const periodWarning = Type.Object({
  rule: oneOf('days-too-few', 'days-of-month', 'once-a-cycle', 'single-amount'),
  productCode: Type.String(),
  paymentChannelCode: Type.String(),
});
export const channelAuthorized = Type.Object({ channel, changed, warnings: Type.Array(periodWarning) });

const credentials = { appSecret: Type.String(), aesKey: Type.String(), callbackSecret: Type.String() };
export const channelRequest = Type.Object({
  name: text(),
  appId: Type.Optional(text(64)),
  ratePerSecond: Type.Optional(Type.Integer()),
  rateBurst: Type.Optional(Type.Integer()),
});
/** A new channel. Its credentials are shown only in this answer. */
export const channelCreated = Type.Object({
  channel,
  credentials: Type.Object(credentials),
  /** The base URL of the API. A client needs only this, the app id and the credentials. */
  baseUrl: Type.String(),
});

/** Given fields are changed. */
export const channelChange = Type.Object({
  name: Type.Optional(text()),
  status: Type.Optional(oneOf('ACTIVE', 'SUSPENDED')),
  ipAllowList: Type.Optional(strings),
  limits: Type.Optional(Type.Object({ ratePerSecond: Type.Integer(), rateBurst: Type.Optional(Type.Integer()) })),
  voidedPeriodEvents: Type.Optional(Type.Boolean()),
  /** The number of days before a renewal, 1 to 30. Null: no notices are sent. */
  upcomingNoticeDays: Type.Optional(integerOrNull),
  frameOrigins: Type.Optional(strings),
  encryption: Type.Optional(
    Type.Object({
      answers: Type.Optional(oneOf(...encryptionVersions)),
      acceptsV1: Type.Optional(Type.Boolean()),
    }),
  ),
  /** The callback of one event type. A null `url` removes it. */
  callback: Type.Optional(Type.Object({ eventType: callbackType, url: Type.OrNull(text(2000)) })),
});

/**
 * The branding, with the tones derived from the accent colour. `contrast` is the lowest contrast of a tone with the
 * texts on it or the backgrounds behind it. Without an accent colour there are no tones.
 */
export const branding = Type.Object({
  ...brandingFields,
  tones: Type.Array(
    Type.Object({
      theme: oneOf('light', 'dark'),
      tone: oneOf(...TONES),
      colour: Type.String(),
      contrast: Type.Unsafe<number>({ type: 'number' }),
    }),
  ),
});
/** A picture in base64: 64 KiB are 87,384 characters. Null removes the picture. */
const picture = Type.Optional(Type.OrNull(text(100_000)));
const optionalText = (maxLength: number) => Type.Optional(Type.OrNull(text(maxLength)));
/** Unset fields stay unchanged, and null removes a field. */
export const brandingChange = Type.Object({
  displayName: optionalText(200),
  logo: picture,
  accent: optionalText(20),
  support: optionalText(500),
  termsUrl: optionalText(2000),
  shopUrl: optionalText(2000),
});
/** Always empty. Earlier versions listed the elements that they had removed from a picture. */
const leftOut = strings;
export const brandingChanged = Type.Object({ branding, leftOut, changed });
export const imageAnswer = Type.Object({ mediaType: Type.String(), base64: Type.String() });

export const credentialsRequest = Type.Object({
  names: Type.Array(oneOf('appSecret', 'aesKey', 'callbackSecret'), { minItems: 1, maxItems: 3 }),
  /** Hours for which the former app secret stays valid, 0 to 168. */
  overlapHours: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_OVERLAP_HOURS })),
});
export const credentialsAnswer = Type.Object({
  channel,
  credentials: Type.Object({
    appSecret: Type.Optional(Type.String()),
    aesKey: Type.Optional(Type.String()),
    callbackSecret: Type.Optional(Type.String()),
  }),
});

export const authorizationRequest = Type.Object({
  isDefault: Type.Optional(Type.Boolean()),
  shareEnabled: Type.Optional(Type.Boolean()),
});

const benefit = Type.Object({ benefitCode: text(64), name: text(), faceValueCent: cents });
const productFields = {
  productName: text(),
  settlementModes: Type.Array(oneOf(...settlementModes), { minItems: 1, maxItems: 2 }),
  periodType: oneOf(...periodTypes),
  period: count,
  totalCycles: count,
  amountCent: cents,
  benefits: Type.Array(benefit, { maxItems: 50 }),
};
export const product = Type.Object({
  productCode: Type.String(),
  ...productFields,
  retryDelays: Type.Array(Type.Integer()),
  channels: strings,
  /** 1 for the first version. Each later version is a product with its own code. */
  version: count,
  /** The product code of the first version. Null if this product is the first version. */
  versionOf: textOrNull,
  /** The names on the redemption page in Chinese and English. Null: `productName`. */
  nameZh: textOrNull,
  nameEn: textOrNull,
  createdAt: time,
});
export const products = Type.Object({ products: Type.Array(product) });
export const productRequest = Type.Object({
  productCode: text(64),
  ...productFields,
  retryDelays: Type.Optional(Type.Array(Type.Integer(), { maxItems: 10 })),
});
/** Unset names stay unchanged, and null removes a name. */
export const productNames = Type.Object({ nameZh: optionalText(500), nameEn: optionalText(500) });
export const productChanged = Type.Object({ product, changed });
/** A new version of a product. Unset fields are copied from the former version, which running orders keep. */
export const versionRequest = Type.Object({
  productCode: Type.Optional(text(64)),
  productName: Type.Optional(text()),
  amountCent: Type.Optional(cents),
  totalCycles: Type.Optional(count),
  benefits: Type.Optional(Type.Array(benefit, { maxItems: 50 })),
  retryDelays: Type.Optional(Type.Array(Type.Integer(), { maxItems: 10 })),
  /** True: in all channels that may sell the former version, the new version replaces it from now on. */
  replacesForChannels: Type.Optional(Type.Boolean()),
});

const paymentChannelFields = {
  gatewayUrl: Type.Optional(Type.OrNull(text(2000))),
  bankCodeRequired: Type.Optional(Type.Boolean()),
  debitsPerSecond: Type.Optional(integerOrNull),
  debitHours: Type.Optional(Type.OrNull(Type.Object({ from: Type.Integer(), to: Type.Integer() }))),
  commonNumbers: Type.Optional(Type.Boolean()),
};
export const paymentChannel = Type.Object({
  code: Type.String(),
  gateway: oneOf('sandbox', 'bridge'),
  displayName: Type.String(),
  gatewayUrl: textOrNull,
  supportedBanks: strings,
  bankCodeRequired: Type.Boolean(),
  debitsPerSecond: integerOrNull,
  debitHours: Type.OrNull(Type.Object({ from: Type.Integer(), to: Type.Integer() })),
  commonNumbers: Type.Boolean(),
  channels: strings,
  createdAt: time,
  /** Since when renewals are held. Null: they are not. */
  debitsPausedAt: timeOrNull,
});
export const paymentChannels = Type.Object({ paymentChannels: Type.Array(paymentChannel) });
export const paymentChannelRequest = Type.Object({
  code: text(64),
  gateway: oneOf('sandbox', 'bridge'),
  displayName: text(),
  supportedBanks: strings,
  ...paymentChannelFields,
});
export const paymentChannelChange = Type.Object({
  displayName: Type.Optional(text()),
  supportedBanks: Type.Optional(strings),
  ...paymentChannelFields,
});
/** A payment channel with a new key of its bridge, which is shown only in this answer. */
export const paymentChannelAnswer = Type.Object({ paymentChannel, gatewayKey: textOrNull });
export const paymentChannelChanged = Type.Object({ paymentChannel, changed });

export const benefitView = Type.Object({
  benefitCode: Type.String(),
  /** The name in the latest product that has the benefit, if the name is more than the code. */
  name: textOrNull,
  kind: oneOf('GENERATED', 'POOL', 'SUPPLIER'),
  supplierUrl: textOrNull,
  /** The number of codes in the pool that were not handed out. Null if the benefit has no pool and no codes. */
  codesLeft: integerOrNull,
  claimsWaiting: count,
  /** An alert is raised below this number of codes. Null: no alert. */
  lowStock: integerOrNull,
  products: strings,
  presentation: Type.Object({
    icon: Type.OrNull(image),
    nameZh: textOrNull,
    nameEn: textOrNull,
    descriptionZh: textOrNull,
    descriptionEn: textOrNull,
    useUrl: textOrNull,
  }),
});
export const benefits = Type.Object({ benefits: Type.Array(benefitView) });
export const fulfilmentRequest = Type.Object({
  kind: oneOf('generated', 'pool', 'supplier'),
  supplierUrl: Type.Optional(text(2000)),
  /** 32 bytes in base64. */
  supplierKey: Type.Optional(text(64)),
});
/** No length limits, because counting the characters of a file takes longer than parsing the body. */
export const codesRequest = Type.Object({ codes: Type.String() });
export const codesAnswer = Type.Object({
  benefit: benefitView,
  imported: count,
  knownBefore: count,
  repeated: count,
  served: count,
});
export const lowStockRequest = Type.Object({
  lowStock: Type.OrNull(Type.Integer({ minimum: 1, maximum: 10_000_000 })),
});
export const benefitChanged = Type.Object({ benefit: benefitView, changed });
/** Unset fields stay unchanged, and null removes a field. */
export const presentationChange = Type.Object({
  icon: picture,
  nameZh: optionalText(500),
  nameEn: optionalText(500),
  descriptionZh: optionalText(500),
  descriptionEn: optionalText(500),
  useUrl: optionalText(2000),
});
export const presentationChanged = Type.Object({ benefit: benefitView, leftOut, changed });
