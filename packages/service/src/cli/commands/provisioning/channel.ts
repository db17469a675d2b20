import type { Command } from 'commander';
import type { ChannelView } from '../../../catalog/channels/channel-provisioning-sql.js';
import {
  createChannel,
  listChannels,
  type OneTimeCredentials,
  resetCredentials,
  resumeChannel,
  revokeTokens,
  showChannel,
  suspendChannel,
} from '../../../operator/provisioning/channels.js';
import { addCommand, type CommandLine, type JsonOption } from '../../frame/command.js';
import { appendList, parseWholeNumber } from '../../frame/options.js';
import { type SafeText, safeText } from '../../frame/safe-text.js';
import { record, table } from '../../frame/table.js';
import { brandingRows } from './branding-text.js';
import { addChannelAuthorizationCommands } from './channel-authorizations.js';
import { addChannelSettingCommands, encryptionText, upcomingNoticesText } from './channel-settings.js';

export function addChannelCommands(program: Command, commandLine: CommandLine): void {
  const { perform, performList } = commandLine;
  const channel = program.command('channel').description('partner platforms: credentials, authorizations, limits');

  addCommand(channel, 'create', 'make a channel and show its credentials, this one time', [
    'create --name "Partner One"',
    'create --name "Partner One" --app-id test_partner_one --rate 100 --burst 300',
  ])
    .requiredOption('--name <text>', 'name of the channel')
    .option('--app-id <id>', 'its app id (default: made at random)')
    .option('--rate <n>', 'requests per second (default: 50 in the sandbox, 200 in production)', parseWholeNumber)
    .option('--burst <n>', 'requests at once (default: twice the rate)', parseWholeNumber)
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
        (made) => safeText`${channelText(made)}\n\n${credentialsText(made)}`,
      );
    });

  addCommand(channel, 'list', 'all channels', ['list', 'list --json']).action(async (options: JsonOption) => {
    await performList(options, listChannels, channelTable);
  });

  addCommand(channel, 'show <app-id>', 'one channel with its settings and authorizations', ['show test_demo']).action(
    async (appId: string, options: JsonOption) => {
      await perform(options, (operator) => showChannel(operator, { appId }), channelText);
    },
  );

  addCommand(channel, 'suspend <app-id>', 'refuse all its requests, at once and on every node', [
    'suspend test_demo',
  ]).action(async (appId: string, options: JsonOption) => {
    await perform(
      options,
      (operator) => suspendChannel(operator, { appId }),
      ({ changed }) => (changed ? `${appId} is suspended` : `${appId} was suspended already`),
    );
  });

  addCommand(channel, 'resume <app-id>', 'end a suspension', ['resume test_demo']).action(
    async (appId: string, options: JsonOption) => {
      await perform(
        options,
        (operator) => resumeChannel(operator, { appId }),
        ({ changed }) => (changed ? `${appId} is active again` : `${appId} was active already`),
      );
    },
  );

  addCommand(
    channel,
    'reset-credentials <app-id>',
    'new secrets, shown this one time; the old ones and all live tokens end at once on every node',
    [
      'reset-credentials test_demo',
      'reset-credentials test_demo --only callbackSecret',
      'reset-credentials test_demo --only appSecret --overlap-hours 24',
    ],
  )
    .option('--only <names>', 'some of appSecret, aesKey, callbackSecret (default: all three)', appendList)
    .option(
      '--overlap-hours <n>',
      'take the former app secret too for so long, at most 168, and let live tokens go on (default: 0)',
      parseWholeNumber,
    )
    .action(async (appId: string, { only, overlapHours, ...options }: ResetOptions) => {
      const input = {
        appId,
        ...(only === undefined ? {} : { names: only }),
        ...(overlapHours === undefined ? {} : { overlapHours }),
      };
      await perform(
        options,
        (operator) => resetCredentials(operator, input),
        (reset) => {
          const { formerSecretUntil: until } = reset;
          const taken = until === null ? '' : `; its former app secret is taken until ${until}`;
          return safeText`${appId} has new credentials${taken}\n\n${credentialsText(reset)}`;
        },
      );
    });

  addCommand(channel, 'revoke-tokens <app-id>', 'end all its live access tokens; its credentials stay', [
    'revoke-tokens test_demo',
  ]).action(async (appId: string, options: JsonOption) => {
    await perform(
      options,
      (operator) => revokeTokens(operator, { appId }),
      () => `the access tokens of ${appId} have ended`,
    );
  });

  addChannelAuthorizationCommands(channel, commandLine);
  addChannelSettingCommands(channel, commandLine);
}

interface ResetOptions extends JsonOption {
  readonly only?: readonly string[];
  readonly overlapHours?: number;
}

interface CreateOptions extends JsonOption {
  readonly name: string;
  readonly appId?: string;
  readonly rate?: number;
  readonly burst?: number;
}

function channelTable(channels: readonly ChannelView[]): SafeText {
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

function channelText(channel: ChannelView): SafeText {
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

function credentialsText({ appSecret, aesKey, callbackSecret }: Partial<OneTimeCredentials>): SafeText {
  const secrets: [string, string][] = [];
  if (appSecret !== undefined) secrets.push(['appSecret', appSecret]);
  if (aesKey !== undefined) secrets.push(['aesKey', aesKey]);
  if (callbackSecret !== undefined) secrets.push(['callbackSecret', callbackSecret]);
  return safeText`${record(secrets)}\n\nKeep them now: they are not shown again.`;
}
