import { encryptionVersions } from '../enums.js';
import { MAX_NOTICE_DAYS, MAX_OVERLAP_HOURS } from '../limits.js';
import { Rejection } from '../rejection.js';
import { Encrypted, Enum, MaybeEmptyText, Nullable, OutText, Time } from './common.js';
import { type Static, Type } from './type.js';

/** Changes of a channel's own settings in the sandbox, all or none. Without fields, the settings are only read. */
export const ChannelSetRequest = Type.Object({
  callbackUrl: Type.Optional(MaybeEmptyText),
  encryptedFields: Type.Optional(Enum(encryptionVersions)),
  upcomingNoticeDays: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_NOTICE_DAYS })),
  appSecretEncrypted: Type.Optional(Encrypted),
  aesKeyEncrypted: Type.Optional(Encrypted),
  callbackSecretEncrypted: Type.Optional(Encrypted),
  overlapHours: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_OVERLAP_HOURS })),
});
export type ChannelSetRequest = Static<typeof ChannelSetRequest>;

export const CallbackAddress = Type.Object({
  /** An event type, or `*` for the types without their own address. */
  forEvents: OutText,
  url: OutText,
});
export type CallbackAddress = Static<typeof CallbackAddress>;

export const ChannelSetData = Type.Object({
  callbackUrls: Type.Array(CallbackAddress),
  encryptedFields: Enum(encryptionVersions),
  acceptsV1: Type.Boolean(),
  upcomingNoticeDays: Type.Integer({ minimum: 0, maximum: MAX_NOTICE_DAYS }),
  formerSecretUntil: Nullable(Time),
});
export type ChannelSetData = Static<typeof ChannelSetData>;

export function channelSetChecks({ appSecretEncrypted, overlapHours }: ChannelSetRequest): void {
  if (overlapHours !== undefined && appSecretEncrypted === undefined) {
    throw new Rejection('PARAM_INVALID', 'overlapHours needs appSecretEncrypted: only the app secret can overlap');
  }
}
