import { readHealth } from '../operator/overview/health.js';
import {
  pausePaymentChannel,
  previewPause,
  resumePaymentChannel,
  testPaymentChannel,
} from '../operator/provisioning/debit-pauses.js';
import {
  createPaymentChannel,
  listPaymentChannels,
  type OneTimeGatewayKey,
  requirePaymentChannelView,
  resetGatewayKey,
  updatePaymentChannel,
} from '../operator/provisioning/payment-channels.js';
import * as health from '../operator/schemas/health.js';
import { reasonRequest } from '../operator/schemas/orders.js';
import * as schemas from '../operator/schemas/setup.js';
import { parseHours } from './command/parse.js';
import { safeText } from './command/safe-text.js';
import { type CommandField, operation } from './operation.js';
import { healthText, testCallsText } from './texts/health-text.js';
import { paymentChannelTable, paymentChannelText, paymentChannelTextWithKey } from './texts/payment-channel-text.js';

const FIELDS = {
  displayName: ['--name <text>', 'name shown to end users'],
  supportedBanks: ['--banks <codes>', '* for any, or comma-separated bank codes'],
  gatewayUrl: ['--gateway-url <url>', 'address of the bridge gateway'],
  bankCodeRequired: [
    '--bank-code-required',
    'a binding must name the bank',
    { no: ['--no-bank-code-required', 'a binding need not name the bank (default)'] },
  ],
  debitsPerSecond: ['--debits-per-second <n>', 'pace of renewals, or none (default)'],
  debitHours: [
    '--debit-hours <from-to>',
    'hours of the day for renewals in UTC+8, such as 8-22, or none (default)',
    parseHours,
  ],
  commonNumbers: [
    '--common-numbers',
    'several channels may share the same agreement number',
    { no: ['--no-common-numbers', 'an agreement number belongs to one channel (default)'] },
  ],
} as const satisfies Record<string, CommandField>;

export const paymentChannelOperations = [
  operation({
    method: 'GET',
    path: '/payment-channels',
    summary: 'All payment channels',
    answer: schemas.paymentChannels,
    run: listPaymentChannels,
    toAnswer: (paymentChannels) => ({ paymentChannels }),
    command: { usage: 'payment-channel list', examples: ['list', 'list --json'], text: paymentChannelTable },
  }),
  operation({
    method: 'POST',
    path: '/payment-channels',
    role: 'admin',
    needsProof: true,
    summary: 'Create a payment channel and show the key of its bridge once',
    body: schemas.paymentChannelRequest,
    answer: schemas.paymentChannelAnswer,
    run: createPaymentChannel,
    secondPerson: { secrets: keyOf },
    toAnswer: ({ gatewayKey = null, ...paymentChannel }) => ({ paymentChannel, gatewayKey }),
    command: {
      usage: 'payment-channel create <code>',
      inCells: keyOf,
      examples: [
        'create MOCKPAY --name "Mock Pay" --gateway sandbox --banks "*"',
        'create UNIPAY --name "Uni Pay" --gateway bridge --gateway-url https://bridge.example/uni \\\n' +
          '      --banks ICBC,CCB --bank-code-required --debits-per-second 50 --debit-hours 8-22',
      ],
      fields: { gateway: ['--gateway <gateway>', 'sandbox (charges nobody, sandbox only) or bridge'], ...FIELDS },
      text: paymentChannelTextWithKey,
    },
  }),
  operation({
    method: 'GET',
    path: '/payment-channels/{code}',
    summary: 'One payment channel',
    answer: schemas.paymentChannel,
    run: ({ database }, { code }) => requirePaymentChannelView(database, code),
  }),
  operation({
    method: 'PUT',
    path: '/payment-channels/{code}',
    role: 'admin',
    // Requires a confirmed identity, because the settings decide which server is asked to move money.
    needsProof: true,
    summary: 'Change the given settings of a payment channel, at once on every node',
    body: schemas.paymentChannelChange,
    answer: schemas.paymentChannelChanged,
    run: updatePaymentChannel,
    secondPerson: {},
    toAnswer: ({ changed, ...paymentChannel }) => ({ paymentChannel, changed }),
    command: {
      usage: 'payment-channel update <code>',
      inCells: () => ({}),
      examples: [
        'update UNIPAY --name "Uni Pay Plus" --banks ICBC,CCB,ABC',
        'update UNIPAY --debits-per-second none --debit-hours none',
      ],
      fields: FIELDS,
      text: (updated) =>
        updated.changed ? paymentChannelText(updated) : safeText`${paymentChannelText(updated)}\n\nNothing changed.`,
    },
  }),
  operation({
    method: 'POST',
    path: '/payment-channels/{code}/key',
    role: 'admin',
    needsProof: true,
    summary: 'Replace the key of a bridge and show it once; the old one ends at once',
    answer: schemas.paymentChannelAnswer,
    run: resetGatewayKey,
    secondPerson: { secrets: keyOf },
    toAnswer: ({ gatewayKey = null, ...paymentChannel }) => ({ paymentChannel, gatewayKey }),
    command: {
      usage: 'payment-channel reset-key <code>',
      inCells: keyOf,
      examples: ['reset-key UNIPAY'],
      text: paymentChannelTextWithKey,
    },
  }),
  operation({
    method: 'GET',
    path: '/payment-channels/{code}/pause',
    summary: 'What a pause of renewals would hold, and what would go on',
    answer: health.pausePreview,
    run: previewPause,
  }),
  operation({
    method: 'POST',
    path: '/payment-channels/{code}/pause',
    // Not only admins, because an institution that declines everything uses up a retry with every minute.
    role: 'finance',
    needsProof: true,
    summary: 'Hold the renewals of a payment channel, on every node',
    body: reasonRequest,
    answer: schemas.paymentChannelChanged,
    run: pausePaymentChannel,
    toAnswer: ({ changed, ...paymentChannel }) => ({ paymentChannel, changed }),
    command: {
      usage: 'payment-channel pause <code>',
      inCells: () => ({}),
      examples: ['pause UNIPAY --reason "declines everything since 10:00"'],
      fields: { reason: ['--reason <text>', 'why, for the audit log'] },
      text: (paused) =>
        paused.changed ? paymentChannelText(paused) : safeText`${paymentChannelText(paused)}\n\nNothing changed.`,
    },
  }),
  operation({
    method: 'POST',
    path: '/payment-channels/{code}/resume',
    role: 'finance',
    needsProof: true,
    summary: 'Start the renewals that a pause has held',
    answer: schemas.paymentChannelChanged,
    run: resumePaymentChannel,
    toAnswer: ({ changed, ...paymentChannel }) => ({ paymentChannel, changed }),
    command: {
      usage: 'payment-channel resume <code>',
      inCells: () => ({}),
      examples: ['resume UNIPAY'],
      text: (resumed) =>
        resumed.changed ? paymentChannelText(resumed) : safeText`${paymentChannelText(resumed)}\n\nNothing changed.`,
    },
  }),
  operation({
    method: 'POST',
    path: '/payment-channels/{code}/test',
    role: 'support',
    summary: 'Call a bridge with a handshake and with a query of a debit that was never made',
    answer: health.testAnswer,
    run: testPaymentChannel,
    command: {
      usage: 'payment-channel test <code>',
      examples: ['test UNIPAY'],
      isGood: ({ isGood }) => isGood,
      text: testCallsText,
    },
  }),
  operation({
    method: 'GET',
    path: '/health',
    summary: 'Calls to institutions and suppliers, with failures and latency, and who does not answer',
    query: health.healthQuery,
    answer: health.healthAnswer,
    run: readHealth,
    command: {
      usage: 'payment-channel health',
      examples: ['health', 'health --range 15m'],
      fields: { range: ['--range <range>', '15m, 24h (default) or 30d'] },
      text: healthText,
    },
  }),
];

function keyOf({ gatewayKey = '' }: OneTimeGatewayKey) {
  return { gatewayKey };
}
