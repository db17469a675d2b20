import type { ChannelView } from '../../catalog/channels/channel-provisioning-sql.js';
import type { OneTimeCredentials } from '../../operator/provisioning/channels.js';
import { type SafeText, safeText } from '../command/safe-text.js';
import { record, table } from '../command/table.js';
import { brandingRows } from './branding-text.js';

export function channelTable(channels: readonly ChannelView[]): SafeText {
  return table(
    ['APP ID', 'NAME', 'STATUS', 'LIMITS', 'PRODUCTS', 'PAYMENT CHANNELS', 'CREATED'],
    channels.map((channel) => [
      channel.appId,
      channel.name,
      channel.status,
      limitsText(channel),
      `${channel.products.length}`,
      `${channel.paymentChannels.length}`,
      channel.createdAt,
    ]),
  );
}

function limitsText({ ratePerSecond, rateBurst }: ChannelView): string {
  return `${ratePerSecond}/s, burst ${rateBurst}`;
}

export function channelText(channel: ChannelView): SafeText {
  const { upcomingNoticeDays: days } = channel;
  const paymentChannels = channel.paymentChannels.map(({ code, isDefault, shareEnabled }) => {
    const flags = [...(isDefault ? ['default'] : []), ...(shareEnabled ? ['share'] : [])];
    return flags.length === 0 ? code : `${code} (${flags.join(', ')})`;
  });
  return record([
    ['App id', channel.appId],
    ['Name', channel.name],
    ['Channel id', channel.channelId],
    ['Status', channel.status],
    ['Limits', limitsText(channel)],
    ['IP list', channel.ipAllowList.join(', ') || 'any address'],
    ['Callback', channel.callbackUrls.length === 0 ? 'none' : null],
    ...channel.callbackUrls.map(({ eventType, url }) => ['Callback', `${url} (${eventType})`] as const),
    ...channel.pausedEvents.map((eventType) => ['Paused', eventType] as const),
    ['Voided period events', channel.voidedPeriodEvents ? 'on' : 'off'],
    ['Notices before a debit', days === null ? 'off' : `${days} day${days === 1 ? '' : 's'} before`],
    [
      'Encrypted fields',
      `answered in ${channel.answerEncryption}, accepted in ${channel.acceptsV1 ? 'v1 and v2' : 'v2 only'}`,
    ],
    ['Framed by', channel.frameOrigins.join(', ') || 'none'],
    ...brandingRows(channel.branding),
    ['Products', channel.products.join(', ') || 'none'],
    ['Payment channels', paymentChannels.join(', ') || 'none'],
    ['Former app secret', channel.formerSecretUntil && `taken until ${channel.formerSecretUntil}`],
    ['Created', channel.createdAt],
  ]);
}

export function credentialsText({ appSecret, aesKey, callbackSecret }: Partial<OneTimeCredentials>): SafeText {
  const secrets = record([
    ['appSecret', appSecret ?? null],
    ['aesKey', aesKey ?? null],
    ['callbackSecret', callbackSecret ?? null],
  ]);
  return safeText`${secrets}\n\nStore them now: they are not shown again.`;
}
