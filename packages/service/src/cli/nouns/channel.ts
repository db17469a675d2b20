import type { Command } from 'commander';
import type { ChannelView } from '../../catalog/channels/channel-provisioning-sql.js';
import {
  createChannel,
  listChannels,
  resetCredentials,
  resumeChannel,
  revokeTokens,
  type ShownCredentials,
  showChannel,
  suspendChannel,
} from '../../operator/provisioning/channels.js';
import { type CommandLine, type JsonOption, verb } from '../frame/command.js';
import { collect, wholeNumber } from '../frame/options.js';
import { type Shown, shown } from '../frame/shown.js';
import { record, table } from '../frame/table.js';
import { addChannelAuthorizations } from './channel-authorizations.js';
import { addChannelSettings, encryptionText } from './channel-settings.js';

export function addChannel(program: Command, commandLine: CommandLine): void {
  const { perform, performList } = commandLine;
  const channel = program.command('channel').description('partner platforms: credentials, authorizations, limits');

  verb(channel, 'create', 'make a channel and show its credentials, this one time', [
    'create --name "Partner One"',
    'create --name "Partner One" --app-id test_partner_one --rate 100 --burst 300',
  ])
    .requiredOption('--name <text>', 'name of the channel')
    .option('--app-id <id>', 'its app id (default: made at random)')
    .option('--rate <n>', 'requests per second (default: 50 in the sandbox, 200 in production)', wholeNumber)
    .option('--burst <n>', 'requests at once (default: twice the rate)', wholeNumber)
    .action(async ({ json = false, name, appId, rate, burst }: CreateOptions) => {
      const input = {
        name,
        ...(appId === undefined ? {} : { appId }),
        ...(rate === undefined ? {} : { ratePerSecond: rate }),
        ...(burst === undefined ? {} : { rateBurst: burst }),
      };
      await perform(
        { json },
        (operator) => createChannel(operator, input),
        (made) => shown`${describe(made)}\n\n${showCredentials(made)}`,
      );
    });

  verb(channel, 'list', 'all channels', ['list', 'list --json']).action(async (options: JsonOption) => {
    await performList(options, listChannels, listText);
  });

  verb(channel, 'show <app-id>', 'one channel with its settings and authorizations', ['show test_demo']).action(
    async (appId: string, options: JsonOption) => {
      await perform(options, (operator) => showChannel(operator, { appId }), describe);
    },
  );

  verb(channel, 'suspend <app-id>', 'refuse all its requests, at once and on every node', ['suspend test_demo']).action(
    async (appId: string, options: JsonOption) => {
      await perform(
        options,
        (operator) => suspendChannel(operator, { appId }),
        ({ changed }) => (changed ? `${appId} is suspended` : `${appId} was suspended already`),
      );
    },
  );

  verb(channel, 'resume <app-id>', 'end a suspension', ['resume test_demo']).action(
    async (appId: string, options: JsonOption) => {
      await perform(
        options,
        (operator) => resumeChannel(operator, { appId }),
        ({ changed }) => (changed ? `${appId} is active again` : `${appId} was active already`),
      );
    },
  );

  verb(
    channel,
    'reset-credentials <app-id>',
    'new secrets, shown this one time; the old ones and all live tokens end at once on every node',
    ['reset-credentials test_demo', 'reset-credentials test_demo --only callbackSecret'],
  )
    .option('--only <names>', 'some of appSecret, aesKey, callbackSecret (default: all three)', collect)
    .action(async (appId: string, { only, ...options }: JsonOption & { readonly only?: readonly string[] }) => {
      const input = { appId, ...(only === undefined ? {} : { names: only }) };
      await perform(
        options,
        (operator) => resetCredentials(operator, input),
        (reset) => shown`${appId} has new credentials\n\n${showCredentials(reset)}`,
      );
    });

  verb(channel, 'revoke-tokens <app-id>', 'end all its live access tokens; its credentials stay', [
    'revoke-tokens test_demo',
  ]).action(async (appId: string, options: JsonOption) => {
    await perform(
      options,
      (operator) => revokeTokens(operator, { appId }),
      () => `the access tokens of ${appId} have ended`,
    );
  });

  addChannelAuthorizations(channel, commandLine);
  addChannelSettings(channel, commandLine);
}

interface CreateOptions extends JsonOption {
  readonly name: string;
  readonly appId?: string;
  readonly rate?: number;
  readonly burst?: number;
}

function listText(channels: readonly ChannelView[]): Shown {
  return table(
    ['APP ID', 'NAME', 'STATUS', 'LIMITS', 'PRODUCTS', 'PAYMENT CHANNELS', 'CREATED'],
    channels.map((channel) => [
      channel.appId,
      channel.name,
      channel.status,
      limits(channel),
      `${channel.products.length}`,
      `${channel.paymentChannels.length}`,
      channel.createdAt,
    ]),
  );
}

function limits({ ratePerSecond, rateBurst }: ChannelView): string {
  return `${ratePerSecond}/s, burst ${rateBurst}`;
}

function describe(channel: ChannelView): Shown {
  const paymentChannels = channel.paymentChannels.map(({ code, isDefault, shareEnabled }) => {
    const flags = [...(isDefault ? ['default'] : []), ...(shareEnabled ? ['share'] : [])];
    return flags.length === 0 ? code : `${code} (${flags.join(', ')})`;
  });
  return record([
    ['App id', channel.appId],
    ['Name', channel.name],
    ['Channel id', channel.channelId],
    ['Status', channel.status],
    ['Limits', limits(channel)],
    ['IP list', channel.ipAllowList.join(', ') || 'every address'],
    ...several(
      'Callback',
      channel.callbackUrls.map(({ eventType, url }) => `${url} (${eventType})`),
    ),
    ...channel.pausedEvents.map((eventType): [string, string] => ['Paused', eventType]),
    ['Voided period events', channel.voidedPeriodEvents ? 'on' : 'off'],
    ['Encrypted fields', encryptionText(channel)],
    ['Framed by', channel.frameOrigins.join(', ') || 'nobody'],
    ['Products', channel.products.join(', ') || 'none'],
    ['Payment channels', paymentChannels.join(', ') || 'none'],
    ['Created', channel.createdAt],
  ]);
}

function several(name: string, values: readonly string[]): [string, string][] {
  return values.length === 0 ? [[name, 'none']] : values.map((value) => [name, value]);
}

function showCredentials({ appSecret, aesKey, callbackSecret }: Partial<ShownCredentials>): Shown {
  const secrets: [string, string][] = [];
  if (appSecret !== undefined) secrets.push(['appSecret', appSecret]);
  if (aesKey !== undefined) secrets.push(['aesKey', aesKey]);
  if (callbackSecret !== undefined) secrets.push(['callbackSecret', callbackSecret]);
  return shown`${record(secrets)}\n\nKeep them now: they are not shown again.`;
}
