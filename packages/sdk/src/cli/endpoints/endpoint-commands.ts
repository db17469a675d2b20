import { readFileSync } from 'node:fs';
import { type Endpoint, type EndpointName, endpoints } from '@perennial/wire';
import { Argument, Option } from 'commander';
import type { PerennialClient } from '../../client.js';
import { createClient, readChannel } from '../channel-file.js';
import type { CommandFacts } from '../frame/command.js';
import { EXIT, type Io, UsageError } from '../frame/io.js';
import { writeJson } from '../frame/text.js';
import { fieldsOf, fillBody } from './fields.js';
import { showAnswer } from './show-answer.js';

/** By endpoint: the field whose value can be given directly after the command, without the name of an option. */
const NAMED_BY_PLACE: Readonly<Partial<Record<EndpointName, string>>> = {
  'agreements/bind-confirm': 'bindOrderNo',
  'agreements/replace': 'orderNo',
  'orders/query': 'orderNo',
  'orders/list': 'channelUserId',
  'orders/unsubscribe': 'orderNo',
  'payments/query': 'paymentOrderNo',
  'events/list': 'orderNo',
  'events/replay': 'eventIds',
  'sandbox/orders/advance': 'orderNo',
  'sandbox/payments/refund': 'paymentOrderNo',
  'sandbox/events/pull': 'path',
};

const EXAMPLES: Readonly<Partial<Record<EndpointName, readonly string[]>>> = {
  'auth/token': ['auth token', 'auth token --json'],
  'payment-channels/list': ['payment-channels list'],
  'agreements/bind-sms': [
    'agreements bind-sms --channel-user-id u1 --mobile 13800000000 --bank-card-no 6222020000001234567 --certificate-no 110101199001011234 --real-name 张三 --bank-mobile 13800000001',
  ],
  'agreements/bind-confirm': ['agreements bind-confirm BIND_ORDER_NO --sms-code 123456'],
  'agreements/user-data': ['agreements user-data --channel-user-id u1'],
  'agreements/replace': ['agreements replace 100000001000 --body new-agreement.json'],
  'products/list': ['products list', 'products list --json'],
  'orders/create': [
    'orders create --settlement-mode CHANNEL_COLLECT --product-code TEST_SPU_001 --external-order-no X-1 --channel-user-id u1 --mobile 13800000000',
    'orders create --body order.json --external-order-no X-2',
  ],
  'orders/query': ['orders query 100000001000', 'orders query --external-order-no X-1 --json'],
  'orders/list': ['orders list u1'],
  'orders/unsubscribe': ['orders unsubscribe 100000001000 --reason "too expensive"'],
  'payments/query': ['payments query 1000000010000001'],
  'events/list': ['events list --delivery-status PENDING', 'events list 100000001000'],
  'events/replay': ['events replay 4711 4712-8', 'events replay --from "2026-01-31 00:00:00"'],
  'sandbox/orders/advance': [
    'sandbox orders advance 100000001000 --cycles 11',
    'sandbox orders advance 100000001000 --cycles 2 --outcomes FAIL_RETRY,SUCCESS',
  ],
  'sandbox/payments/refund': ['sandbox payments refund 1000000010000001 --amount-cent 500'],
  'sandbox/events/pull': ['sandbox events pull /events --from "2026-01-31 00:00:00" --json'],
  'sandbox/events/test': ['sandbox events test'],
  'sandbox/requests/list': ['sandbox requests list --code failed'],
  'sandbox/channel/set': [
    'sandbox channel set',
    'sandbox channel set --callback-url https://shop.example/events --encrypted-fields v2',
    'sandbox channel set --upcoming-notice-days 3',
    'sandbox channel set --app-secret "$(openssl rand -base64 32)" --overlap-hours 24',
  ],
};

const NOTES: Readonly<Partial<Record<EndpointName, string>>> = {
  'auth/token': `Shows the beginning of the token, which proves that the credentials are right. With --json it prints the whole token, for programs
that sign requests themselves: keep it out of logs until it has expired. The other commands get a token automatically.`,
  'agreements/bind-sms':
    'The sandbox sends no message and accepts any code except 000000; /developers/guides/sandbox lists test cards. Next: agreements bind-confirm.',
  'orders/create': `Three ways to sell:
  A.1  SVC_DEDUCT with --bind-order-no: the service debits a card that the user has bound
  A.2  SVC_DEDUCT with --shared-agreement.*: the service debits your own agreement
  B    CHANNEL_COLLECT: you collect the money`,
  'events/replay': 'Name the events, or a time range: its events that the service no longer sends are sent again.',
  'sandbox/events/pull': 'Use listen to forward them to a receiver on this machine.',
  'sandbox/channel/set':
    'Without options it shows the settings. You choose new secrets yourself and store them: no answer shows a secret.',
};

const BODY = new Option(
  "--body <file|-|'{...}'>",
  'the whole body, unencrypted: a file, - for standard input, or the JSON itself; options are added to it',
);
const IDEMPOTENCY_KEY = new Option(
  '--idempotency-key <key>',
  'repeats a request without executing it twice; default: a new key',
);

export const ENDPOINT_COMMANDS: readonly CommandFacts[] = endpoints.map(toCommand);

function toCommand(endpoint: Endpoint): CommandFacts {
  const name = endpoint.name as EndpointName;
  const fields = fieldsOf(endpoint);
  const place = fields.find(({ path }) => path.join('.') === NAMED_BY_PLACE[name]);
  const isMany = place?.schema.type === 'array';
  return {
    name: endpoint.name.replaceAll('/', ' '),
    summary: endpoint.summary + (endpoint.sandboxOnly ? ' (sandbox only)' : ''),
    argument: place && new Argument(`[${place.option.name()}${isMany ? '...' : ''}]`),
    options: [...fields.map(({ option }) => option), BODY, ...(endpoint.write ? [IDEMPOTENCY_KEY] : [])],
    notes: NOTES[name],
    examples: EXAMPLES[name] ?? [],
    async run(call) {
      const { io, given, words } = call;
      const byPlace =
        place === undefined || words.length === 0 ? {} : { [place.path.join('.')]: isMany ? words : words[0] };
      const body = fillBody(fields, { ...given, ...byPlace }, await readBody(io, given['body']));
      // No retries: the user sees the failure at once and can repeat the command.
      const client = createClient(call.io, readChannel(call), { retries: 0 });
      const { data, replayed } = await sendBody(client, name, body, given['idempotencyKey']);
      if (given['json']) io.out(writeJson(data));
      else {
        io.out(showAnswer(data));
        if (replayed) io.err('this is the stored answer to the first request with this key');
      }
      return EXIT.ok;
    },
  };
}

/** Sends the body. A TypeError of the client means a wrong argument, so it becomes a usage error. */
async function sendBody(client: PerennialClient, name: EndpointName, body: object, idempotencyKey: string | undefined) {
  try {
    return await client.send(name, body as never, { idempotencyKey });
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error;
  }
}

async function readBody(io: Io, where: string | undefined): Promise<Record<string, unknown>> {
  if (where === undefined) return {};
  const text = where.trimStart().startsWith('{') ? where : where === '-' ? await io.readInput() : readFile(where);
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
  } catch {
    // Drops the parser's error, because it quotes the text. The error thrown below does not quote it.
  }
  throw new UsageError('--body is not a JSON object');
}

function readFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new UsageError(`--body: ${file} cannot be read`);
  }
}
