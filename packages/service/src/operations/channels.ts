import type { BrandingView, ChannelView } from '../catalog/channels/channel-provisioning-sql.js';
import type { CredentialName } from '../catalog/channels/credentials.js';
import { type Changed, OperatorError } from '../operator/operator.js';
import { setBranding } from '../operator/provisioning/branding.js';
import { changeSettings } from '../operator/provisioning/change-settings.js';
import { CALLBACK_EVENT_TYPES } from '../operator/provisioning/channel-settings.js';
import { readChannelSetup } from '../operator/provisioning/channel-setup.js';
import {
  createChannel,
  listChannels,
  resetCredentials,
  resumeChannel,
  revokeTokens,
  rotateDataKey,
  showChannel,
  suspendChannel,
} from '../operator/provisioning/channels.js';
import {
  authorizePaymentChannel,
  withdrawPaymentChannel,
} from '../operator/provisioning/payment-channel-authorizations.js';
import { type Authorized, type PeriodWarning, periodWarningText } from '../operator/provisioning/period-rules.js';
import { requirePicture } from '../operator/provisioning/pictures.js';
import { authorizeProduct, withdrawProduct } from '../operator/provisioning/products.js';
import { channelSetup } from '../operator/schemas/health.js';
import * as schemas from '../operator/schemas/setup.js';
import { measureTones } from '../redeem/brand/tones.js';
import { readPictureFile } from './command/files.js';
import { appendListOrNone, parseOnOff, parseWholeNumberOrOff } from './command/parse.js';
import { type SafeText, safeLines, safeText } from './command/safe-text.js';
import { command, operation } from './operation.js';
import { readPicture } from './picture-field.js';
import { brandingText } from './texts/branding-text.js';
import { channelTable, channelText, credentialsText } from './texts/channel-text.js';

export const channelOperations = [
  operation({
    method: 'GET',
    path: '/channels',
    summary: 'All channels',
    answer: schemas.channels,
    run: listChannels,
    toAnswer: (channels) => ({ channels }),
    command: { usage: 'channel list', examples: ['list', 'list --json'], text: channelTable },
  }),
  operation({
    method: 'POST',
    path: '/channels',
    role: 'admin',
    needsProof: true,
    summary: 'Create a channel and show its credentials once',
    body: schemas.channelRequest,
    answer: schemas.channelCreated,
    run: createChannel,
    secondPerson: {
      secrets: ({ appId, appSecret, aesKey, callbackSecret }) => ({ appId, appSecret, aesKey, callbackSecret }),
      chosen: ({ appId }) => ({ appId }),
    },
    toAnswer: ({ appSecret, aesKey, callbackSecret, ...channel }, { publicUrl }) => ({
      channel,
      credentials: { appSecret, aesKey, callbackSecret },
      baseUrl: publicUrl(),
    }),
    command: {
      usage: 'channel create',
      examples: [
        'create --name "Partner One"',
        'create --name "Partner One" --app-id test_partner_one --rate 100 --burst 300',
      ],
      fields: {
        name: ['--name <text>', 'name of the channel'],
        appId: ['--app-id <id>', 'its app id (default: random)'],
        ratePerSecond: ['--rate <n>', 'requests per second (default: 50 in the sandbox, 200 in production)'],
        rateBurst: ['--burst <n>', 'requests at once (default: twice the rate)'],
      },
      text: (made) => safeText`${channelText(made)}\n\n${credentialsText(made)}`,
    },
  }),
  operation({
    method: 'GET',
    path: '/channels/{appId}',
    summary: 'One channel with its settings and authorizations',
    answer: schemas.channel,
    run: showChannel,
    command: { usage: 'channel show <app-id>', examples: ['show test_demo'], text: channelText },
  }),
  operation({
    method: 'GET',
    path: '/channels/{appId}/setup',
    summary: 'The steps from a new channel to its first order, with those that are done',
    answer: channelSetup,
    run: readChannelSetup,
  }),
  operation({
    method: 'PUT',
    path: '/channels/{appId}',
    role: 'admin',
    // Requires a confirmed identity, because the settings decide where events are sent and which addresses may call.
    needsProof: true,
    summary: 'Change the given settings of a channel, all or none',
    body: schemas.channelChange,
    answer: schemas.channelChanged,
    run: async (operator, input) => {
      if (input.callback && input.callback.url === undefined) throw new OperatorError('--event goes with --callback');
      return changeSettings(operator, input);
    },
    secondPerson: {},
    toAnswer: toChannelChanged,
    command: {
      usage: 'channel set <app-id>',
      examples: [
        'set test_demo --callback https://partner.example/events --rate 100 --burst 300',
        'set test_demo --callback https://partner.example/payments --event payment.status.changed',
        'set test_demo --ip-list 203.0.113.7 198.51.100.0/24 2001:db8::/32',
        'set test_demo --upcoming-notices 5 --answers v2 --refuse-v1',
        'set test_demo --callback none --ip-list none',
        'set test_demo --name "Partner One"',
      ],
      fields: {
        name: ['--name <text>', 'name that operators see'],
        'callback.url': ['--callback <url>', 'where its events are sent, or none'],
        'callback.eventType': [
          '--event <type>',
          `with --callback: ${CALLBACK_EVENT_TYPES.join(', ')} (default: *, the types without their own)`,
        ],
        ipAllowList: [
          '--ip-list <ranges...>',
          'the complete list of addresses that may call, or none to allow any',
          appendListOrNone,
        ],
        'limits.ratePerSecond': ['--rate <n>', 'requests per second'],
        'limits.rateBurst': ['--burst <n>', 'with --rate: requests at once (default: twice the rate)'],
        voidedPeriodEvents: [
          '--voided-period-events <on-or-off>',
          'send a CANCELED event for each period that an unsubscribe voids',
          parseOnOff,
        ],
        upcomingNoticeDays: [
          '--upcoming-notices <days-or-off>',
          'days before each renewal at which payment.upcoming is sent, 1 to 30',
          parseWholeNumberOrOff,
        ],
        frameOrigins: [
          '--frame-origins <origins...>',
          'the complete list of origins that may frame the redemption page, or none',
          appendListOrNone,
        ],
        'encryption.answers': [
          '--answers <form>',
          'v1 or v2: encrypted fields of events, and of answers to requests without them',
        ],
        'encryption.acceptsV1': [
          '--accept-v1',
          'accept svc_aes_v1 too',
          { no: ['--refuse-v1', 'refuse svc_aes_v1, which is not authenticated'] },
        ],
      },
      text: (channel) =>
        channel.changed ? channelText(channel) : safeText`${channelText(channel)}\n\nNothing changed.`,
    },
  }),
  command({
    usage: 'channel suspend <app-id>',
    summary: 'refuse all its requests, at once and on every node',
    examples: ['suspend test_demo'],
    run: suspendChannel,
    text: ({ appId, changed }) => (changed ? `${appId} is suspended` : `${appId} was already suspended`),
  }),
  command({
    usage: 'channel resume <app-id>',
    summary: 'end a suspension',
    examples: ['resume test_demo'],
    run: resumeChannel,
    text: ({ appId, changed }) => (changed ? `${appId} is active again` : `${appId} was already active`),
  }),
  command({
    usage: 'channel revoke-tokens <app-id>',
    summary: 'end all its live access tokens; its credentials stay',
    examples: ['revoke-tokens test_demo'],
    run: revokeTokens,
    text: ({ appId }) => `all access tokens of ${appId} are revoked`,
  }),
  command({
    usage: 'channel rotate-data-key <app-id>',
    summary: 'replace the key that seals its secrets and the personal data of its users; nodes keep serving',
    examples: ['rotate-data-key test_demo'],
    run: rotateDataKey,
    text: ({ appId }) =>
      `the data key of ${appId} is being replaced: nodes switch in ten minutes, and delete the former key about a day later`,
  }),
  operation({
    method: 'GET',
    path: '/channels/{appId}/branding',
    summary: 'The branding of a channel, with the tones of its accent',
    answer: schemas.branding,
    run: async (operator, input) => withTones((await showChannel(operator, input)).branding),
  }),
  operation({
    method: 'PUT',
    path: '/channels/{appId}/branding',
    role: 'admin',
    // Requires a confirmed identity, because the branding decides which seller users see and where links lead.
    needsProof: true,
    summary: 'Change the branding of a channel, all given parts or none; null removes a part',
    body: schemas.brandingChange,
    answer: schemas.brandingChanged,
    run: (operator, { logo, ...texts }) => setBranding(operator, { ...texts, ...readPicture('logo', logo) }),
    secondPerson: {},
    toAnswer: ({ branding, changed, leftOut }) => ({ branding: withTones(branding), leftOut, changed }),
    command: {
      usage: 'channel set-branding <app-id>',
      summary: 'change its branding on the redemption page; none removes a part',
      examples: [
        'set-branding test_demo --name "Sunny Shop" --logo logo.svg --accent 0a6b4b',
        'set-branding test_demo --support +86-400-000-0000 --terms https://shop.example/terms --shop https://shop.example',
        'set-branding test_demo --logo none',
      ],
      fields: {
        displayName: ['--name <text>', 'name shown to users, 1 to 40 characters, or none'],
        logo: ['--logo <file>', 'SVG or PNG of at most 64 KiB, or none', readPictureFile],
        accent: ['--accent <colour>', 'six or three hexadecimal digits, or none'],
        support: ['--support <text>', 'phone number, e-mail address or https address, or none'],
        termsUrl: ['--terms <url>', 'address of its terms, or none'],
        shopUrl: ['--shop <url>', 'address that leads back to its shop, or none'],
      },
      text: brandingText,
    },
  }),
  operation({
    method: 'GET',
    path: '/images/{file}',
    summary: 'A logo or an icon in base64, by its file name',
    answer: schemas.imageAnswer,
    async run(operator, input) {
      const { mediaType, bytes } = await requirePicture(operator, input);
      return { mediaType, base64: bytes.toString('base64') };
    },
  }),
  operation({
    method: 'POST',
    path: '/channels/{appId}/credentials',
    role: 'admin',
    needsProof: true,
    summary: 'Replace secrets and show them once; with an overlap the former app secret stays valid for a while',
    body: schemas.credentialsRequest,
    answer: schemas.credentialsAnswer,
    run: resetCredentials,
    secondPerson: { secrets: pickCredentials },
    toAnswer: ({ appSecret, aesKey, callbackSecret, changed: _, ...channel }) => ({
      channel,
      credentials: pickCredentials({ appSecret, aesKey, callbackSecret }),
    }),
    command: {
      usage: 'channel reset-credentials <app-id>',
      summary: 'replace secrets and show them once; the old ones and all live tokens end at once on every node',
      examples: [
        'reset-credentials test_demo',
        'reset-credentials test_demo --only callbackSecret',
        'reset-credentials test_demo --only appSecret --overlap-hours 24',
      ],
      fields: {
        names: ['--only <names>', 'some of appSecret, aesKey, callbackSecret (default: all three)'],
        overlapHours: [
          '--overlap-hours <n>',
          'hours for which the former app secret and live tokens stay valid, at most 168 (default: 0)',
        ],
      },
      defaults: { names: undefined },
      text(reset) {
        const { appId, formerSecretUntil: until } = reset;
        const taken = until === null ? '' : `; its former app secret is valid until ${until}`;
        return safeText`${appId} has new credentials${taken}\n\n${credentialsText(reset)}`;
      },
    },
  }),
  operation({
    method: 'PUT',
    path: '/channels/{appId}/products/{productCode}',
    role: 'admin',
    // Requires a confirmed identity, because the products of a channel decide its prices.
    needsProof: true,
    summary: 'Allow a channel to sell a product',
    answer: schemas.channelAuthorized,
    run: authorizeProduct,
    toAnswer: toChannelAuthorized,
    command: {
      usage: 'channel authorize-product <app-id> <product-code>',
      examples: ['authorize-product test_demo TEST_SPU_001'],
      text: ({ appId, changed, warnings }, _money, { productCode }) =>
        withWarnings(`${appId} ${changed ? 'may now sell' : 'already had'} ${productCode}`, warnings),
    },
  }),
  operation({
    method: 'DELETE',
    path: '/channels/{appId}/products/{productCode}',
    role: 'admin',
    needsProof: true,
    summary: 'Stop a channel from selling a product; running orders continue',
    answer: schemas.channelChanged,
    run: withdrawProduct,
    toAnswer: toChannelChanged,
    command: {
      usage: 'channel withdraw-product <app-id> <product-code>',
      examples: ['withdraw-product test_demo TEST_SPU_001'],
      text: ({ appId, changed }, _money, { productCode }) =>
        `${appId} ${changed ? 'no longer has' : 'did not have'} ${productCode}`,
    },
  }),
  operation({
    method: 'PUT',
    path: '/channels/{appId}/payment-channels/{code}',
    role: 'admin',
    // Requires a confirmed identity, because the default payment channel decides which institution debits.
    needsProof: true,
    summary: 'Allow a channel to use a payment channel, or change the flags',
    body: schemas.authorizationRequest,
    answer: schemas.channelAuthorized,
    run: authorizePaymentChannel,
    toAnswer: toChannelAuthorized,
    command: {
      usage: 'channel authorize-payment-channel <app-id> <code>',
      examples: [
        'authorize-payment-channel test_demo MOCKPAY --default --share',
        'authorize-payment-channel test_demo MOCKPAY --no-share',
      ],
      fields: {
        isDefault: [
          '--default',
          'used if a binding names none; replaces the former default',
          { no: ['--no-default', 'not the default'] },
        ],
        shareEnabled: [
          '--share',
          'agreements may be shared (A.2)',
          { no: ['--no-share', 'agreements may not be shared'] },
        ],
      },
      text({ appId, changed, paymentChannels, warnings }, _money, { code }) {
        const now = paymentChannels.find((one) => one.code === code);
        const words = `default ${now?.isDefault ? 'yes' : 'no'}, share ${now?.shareEnabled ? 'yes' : 'no'}`;
        return withWarnings(`${appId} ${changed ? 'may now use' : 'already had'} ${code} (${words})`, warnings);
      },
    },
  }),
  operation({
    method: 'DELETE',
    path: '/channels/{appId}/payment-channels/{code}',
    role: 'admin',
    needsProof: true,
    summary: 'Stop a channel from using a payment channel',
    answer: schemas.channelChanged,
    run: withdrawPaymentChannel,
    toAnswer: toChannelChanged,
    command: {
      usage: 'channel withdraw-payment-channel <app-id> <code>',
      examples: ['withdraw-payment-channel test_demo MOCKBANK'],
      text: ({ appId, changed }, _money, { code }) => `${appId} ${changed ? 'no longer has' : 'did not have'} ${code}`,
    },
  }),
];

function pickCredentials({ appSecret, aesKey, callbackSecret }: { [Name in CredentialName]?: string | undefined }) {
  return {
    ...(appSecret === undefined ? {} : { appSecret }),
    ...(aesKey === undefined ? {} : { aesKey }),
    ...(callbackSecret === undefined ? {} : { callbackSecret }),
  };
}

function toChannelChanged({ changed, ...channel }: Changed<ChannelView>) {
  return { channel, changed };
}

function toChannelAuthorized({ warnings, ...changed }: Authorized) {
  return { ...toChannelChanged(changed), warnings };
}

const withTones = (branding: BrandingView) => ({
  ...branding,
  tones: branding.accent === null ? [] : measureTones(branding.accent),
});

const withWarnings = (done: string, warnings: readonly PeriodWarning[]): SafeText =>
  safeLines([done, ...warnings.map(periodWarningText)]);
