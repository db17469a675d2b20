import { Argument, type Command } from 'commander';
import type { ChannelView } from '../../../catalog/channels/channel-provisioning-sql.js';
import { OperatorError } from '../../../operator/operator.js';
import { type ChangedBranding, setBranding } from '../../../operator/provisioning/branding.js';
import {
  CALLBACK_EVENT_TYPES,
  setCallback,
  setEncryption,
  setFrameOrigins,
  setIpAllowList,
  setLimits,
  setUpcomingNotices,
  setVoidedPeriodEvents,
} from '../../../operator/provisioning/channel-settings.js';
import { addCommand, type CommandLine, type JsonOption } from '../../frame/command.js';
import { parseList, parseOnOff, parseWholeNumber, parseWholeNumberOrOff } from '../../frame/options.js';
import { readPictureOption, toGiven, toLeftOutText, toUnchangedText } from '../../frame/picture-option.js';
import { paragraphs, type SafeText } from '../../frame/safe-text.js';
import { record } from '../../frame/table.js';
import { brandingRows } from './branding-text.js';

export function addChannelSettingCommands(channel: Command, { perform }: CommandLine): void {
  addCommand(channel, 'set-callback <app-id> [url]', 'where its events are sent', [
    'set-callback test_demo https://partner.example/events',
    'set-callback test_demo https://partner.example/payments --event payment.status.changed',
    'set-callback test_demo --event payment.status.changed --remove',
  ])
    .option('--event <type>', `${CALLBACK_EVENT_TYPES.join(', ')} (default: *, the types without their own)`)
    .option('--remove', 'take the address away')
    .action(async (appId: string, url: string | undefined, { event, remove, ...options }: CallbackOptions) => {
      requireExactlyOne(url !== undefined, remove === true, 'an address', '--remove');
      const input = {
        appId,
        ...(event === undefined ? {} : { eventType: event }),
        ...(url === undefined ? {} : { url }),
      };
      await perform(
        options,
        (operator) => setCallback(operator, input),
        ({ callbackUrls }) => {
          const now = callbackUrls.find(({ eventType }) => eventType === (event ?? '*'));
          return `callback address of ${appId} for ${event ?? '*'}: ${now?.url ?? 'none'}`;
        },
      );
    });

  addCommand(channel, 'set-ip-list <app-id> [ranges...]', 'the only addresses that may call, as a whole new list', [
    'set-ip-list test_demo 203.0.113.7 198.51.100.0/24 2001:db8::/32',
    'set-ip-list test_demo --clear',
  ])
    .option('--clear', 'let every address call')
    .action(async (appId: string, given: readonly string[], { clear, ...options }: ClearOption) => {
      requireExactlyOne(given.length > 0, clear === true, 'addresses', '--clear');
      await perform(
        options,
        (operator) => setIpAllowList(operator, { appId, ranges: given.flatMap(parseList) }),
        ({ ipAllowList }) => `${appId} may be called from: ${ipAllowList.join(', ') || 'every address'}`,
      );
    });

  addCommand(channel, 'set-limits <app-id>', 'how many requests it may make', [
    'set-limits test_demo --rate 100 --burst 300',
  ])
    .requiredOption('--rate <n>', 'requests per second', parseWholeNumber)
    .option('--burst <n>', 'requests at once (default: twice the rate)', parseWholeNumber)
    .action(async (appId: string, { rate, burst, ...options }: LimitOptions) => {
      const input = { appId, ratePerSecond: rate, ...(burst === undefined ? {} : { rateBurst: burst }) };
      await perform(
        options,
        (operator) => setLimits(operator, input),
        ({ ratePerSecond, rateBurst }) => `${appId} may make ${ratePerSecond} requests/s, ${rateBurst} at once`,
      );
    });

  addCommand(
    channel,
    'set-voided-period-events <app-id>',
    'whether an unsubscribe also sends a CANCELED event for each period it voids',
    ['set-voided-period-events test_demo off'],
  )
    .addArgument(new Argument('<on-or-off>', 'on or off').argParser(parseOnOff))
    .action(async (appId: string, send: boolean, options: JsonOption) => {
      await perform(
        options,
        (operator) => setVoidedPeriodEvents(operator, { appId, send }),
        ({ voidedPeriodEvents }) => `voided period events of ${appId}: ${voidedPeriodEvents ? 'on' : 'off'}`,
      );
    });

  addCommand(
    channel,
    'set-upcoming-notices <app-id>',
    'whether and how many days before each renewal it is sent payment.upcoming',
    ['set-upcoming-notices test_demo 5', 'set-upcoming-notices test_demo off'],
  )
    .addArgument(new Argument('<days-or-off>', '1 to 30, or off').argParser(parseWholeNumberOrOff))
    .action(async (appId: string, days: number | 'off', options: JsonOption) => {
      await perform(
        options,
        (operator) => setUpcomingNotices(operator, { appId, days: days === 'off' ? null : days }),
        (changed) => `notices before a debit of ${appId}: ${upcomingNoticesText(changed)}`,
      );
    });

  addCommand(
    channel,
    'set-frame-origins <app-id> [origins...]',
    'whose pages may hold the redemption page in a frame, as a whole new list',
    ['set-frame-origins test_demo https://shop.example https://m.shop.example', 'set-frame-origins test_demo --clear'],
  )
    .option('--clear', 'let nobody')
    .action(async (appId: string, given: readonly string[], { clear, ...options }: ClearOption) => {
      requireExactlyOne(given.length > 0, clear === true, 'origins', '--clear');
      await perform(
        options,
        (operator) => setFrameOrigins(operator, { appId, origins: given.flatMap(parseList) }),
        ({ frameOrigins }) =>
          `the redemption page of ${appId} may be framed by: ${frameOrigins.join(', ') || 'nobody'}`,
      );
    });

  addCommand(channel, 'set-branding <app-id>', 'what users see of it on the redemption page; none removes a part', [
    'set-branding test_demo --name "Sunny Shop" --logo logo.svg --accent 0a6b4b',
    'set-branding test_demo --support +86-400-000-0000 --terms https://shop.example/terms --shop https://shop.example',
    'set-branding test_demo --logo none',
  ])
    .option('--name <text>', 'name that users know, 1 to 40 characters, or none')
    .option('--logo <file>', 'SVG or PNG of at most 64 KiB, or none')
    .option('--accent <colour>', 'six or three hexadecimal digits, or none')
    .option('--support <text>', 'phone number, e-mail address or https address, or none')
    .option('--terms <url>', 'address of its terms, or none')
    .option('--shop <url>', 'address that leads back to its shop, or none')
    .action(async (appId: string, { name, logo, accent, support, terms, shop, ...options }: BrandingOptions) => {
      const input = {
        appId,
        ...toGiven('displayName', name),
        ...toGiven('logo', await readPictureOption(logo)),
        ...toGiven('accent', accent),
        ...toGiven('support', support),
        ...toGiven('termsUrl', terms),
        ...toGiven('shopUrl', shop),
      };
      await perform(options, (operator) => setBranding(operator, input), brandingText);
    });

  addCommand(channel, 'set-encryption <app-id>', 'which forms of encrypted fields it is sent, and may send', [
    'set-encryption test_demo --answers v2',
    'set-encryption test_demo --answers v2 --refuse-v1',
  ])
    .option('--answers <form>', 'v1 or v2: of events, and of answers to requests without encrypted fields')
    .option('--refuse-v1', 'take nothing in svc_aes_v1, which is not authenticated')
    .option('--accept-v1', 'take svc_aes_v1 too')
    .action(async (appId: string, { answers, refuseV1, acceptV1, ...options }: EncryptionOptions) => {
      if (refuseV1 && acceptV1) throw new OperatorError('give either --refuse-v1 or --accept-v1');
      const input = {
        appId,
        ...(answers === undefined ? {} : { answers }),
        ...(refuseV1 || acceptV1 ? { acceptsV1: acceptV1 === true } : {}),
      };
      await perform(
        options,
        (operator) => setEncryption(operator, input),
        (channel) => `encrypted fields of ${appId}: ${encryptionText(channel)}`,
      );
    });
}

export function upcomingNoticesText({ upcomingNoticeDays: days }: ChannelView): string {
  if (days === null) return 'off';
  return days === 1 ? '1 day before' : `${days} days before`;
}

export function encryptionText({ answerEncryption, acceptsV1 }: ChannelView): string {
  return `answered in ${answerEncryption}, taken in ${acceptsV1 ? 'v1 and v2' : 'v2 alone'}`;
}

function brandingText({ branding, changed, leftOut }: ChangedBranding): SafeText {
  return paragraphs([record(brandingRows(branding)), ...toLeftOutText('logo', leftOut), ...toUnchangedText(changed)]);
}

interface BrandingOptions extends JsonOption {
  readonly name?: string;
  readonly logo?: string;
  readonly accent?: string;
  readonly support?: string;
  readonly terms?: string;
  readonly shop?: string;
}

interface EncryptionOptions extends JsonOption {
  readonly answers?: string;
  readonly refuseV1?: boolean;
  readonly acceptV1?: boolean;
}

interface CallbackOptions extends JsonOption {
  readonly event?: string;
  readonly remove?: boolean;
}

interface ClearOption extends JsonOption {
  readonly clear?: boolean;
}

interface LimitOptions extends JsonOption {
  readonly rate: number;
  readonly burst?: number;
}

/** An empty list or a missing address has to be asked for explicitly. */
function requireExactlyOne(first: boolean, second: boolean, firstName: string, secondName: string): void {
  if (first === second) throw new OperatorError(`give either ${firstName} or ${secondName}`);
}
