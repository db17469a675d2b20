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
    ['IP list', channel.ipAllowList.join(', ') || 'every address'],
    ...repeatName(
      'Callback',
      channel.callbackUrls.map(({ eventType, url }) => `${url} (${eventType})`),
    ),
    ...channel.pausedEvents.map((eventType): [string, string] => ['Paused', eventType]),
    ['Voided period events', channel.voidedPeriodEvents ? 'on' : 'off'],
    ['Notices before a debit', upcomingNoticesText(channel)],
    ['Encrypted fields', encryptionText(channel)],
    ['Framed by', channel.frameOrigins.join(', ') || 'nobody'],
    ...brandingRows(channel.branding),
    ['Products', channel.products.join(', ') || 'none'],
    ['Payment channels', paymentChannels.join(', ') || 'none'],
    ...(channel.formerSecretUntil === null ? [] : [formerSecretRow(channel.formerSecretUntil)]),
    ['Created', channel.createdAt],
  ]);
}

function formerSecretRow(until: string): [string, string] {
  return ['Former app secret', `taken until ${until}`];
}

function repeatName(name: string, values: readonly string[]): [string, string][] {
  return values.length === 0 ? [[name, 'none']] : values.map((value) => [name, value]);
}

export function credentialsText({ appSecret, aesKey, callbackSecret }: Partial<OneTimeCredentials>): SafeText {
  const secrets: [string, string][] = [];
  if (appSecret !== undefined) secrets.push(['appSecret', appSecret]);
  if (aesKey !== undefined) secrets.push(['aesKey', aesKey]);
  if (callbackSecret !== undefined) secrets.push(['callbackSecret', callbackSecret]);
  return safeText`${record(secrets)}\n\nKeep them now: they are not shown again.`;
}

function upcomingNoticesText({ upcomingNoticeDays: days }: ChannelView): string {
  if (days === null) return 'off';
  return days === 1 ? '1 day before' : `${days} days before`;
}

function encryptionText({ answerEncryption, acceptsV1 }: ChannelView): string {
  return `answered in ${answerEncryption}, taken in ${acceptsV1 ? 'v1 and v2' : 'v2 alone'}`;
}
