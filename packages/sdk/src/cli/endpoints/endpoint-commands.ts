import { readFileSync } from 'node:fs';
import { type Endpoint, type EndpointName, endpoints } from '@perennial/wire';
import { createClient, readChannel } from '../channel-file.js';
import { type Call, type Command, type Option, textOf } from '../frame/command.js';
import { EXIT, type Io, UsageError } from '../frame/io.js';
import { writeJson } from '../frame/text.js';
import { fieldsOf, fillBody, requireFields, requireRules } from './fields.js';
import { showAnswer } from './show-answer.js';

/** The one field that a command is mostly about: it may stand behind the command without its name. */
const NAMED_BY_PLACE: Readonly<Partial<Record<EndpointName, string>>> = {
  'agreements/bind-confirm': 'bind-order-no',
  'agreements/replace': 'order-no',
  'orders/query': 'order-no',
  'orders/list': 'channel-user-id',
  'orders/unsubscribe': 'order-no',
  'payments/query': 'payment-order-no',
  'events/list': 'order-no',
  'events/replay': 'event-ids',
  'sandbox/orders/advance': 'order-no',
  'sandbox/payments/refund': 'payment-order-no',
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
};

const NOTES: Readonly<Partial<Record<EndpointName, readonly string[]>>> = {
  'auth/token': [
    `Shows the beginning of the token, as a proof that the credentials are right. With --json it prints the whole token, for programs
that sign by themselves and need one: keep it out of logs until it has expired. The other commands get a token by themselves.`,
  ],
  'agreements/bind-sms': ['The sandbox sends nothing, and takes any code but 000000. Next: agreements bind-confirm.'],
  'orders/create': [
    `Three ways to sell:
  A.1  SVC_DEDUCT with --bind-order-no: the service debits a card that the user has bound
  A.2  SVC_DEDUCT with --shared-agreement.*: the service debits on an agreement of yours
  B    CHANNEL_COLLECT: you take the money yourself`,
  ],
  'events/replay': [
    'Name the events, or a range of time: of that, what the service does not send any more is sent again.',
  ],
  'sandbox/events/pull': ['To have them sent to a receiver on this machine, use listen.'],
};

const BODY: Option = {
  name: 'body',
  kind: 'text',
  value: "FILE|-|'{...}'",
  about:
    'the whole body, nothing of it encrypted: a file, - for the standard input, or the JSON itself; options are put into it',
};
const IDEMPOTENCY_KEY: Option = {
  name: 'idempotency-key',
  kind: 'text',
  about: 'to repeat a request without doing it twice; default: a new one',
};

export const ENDPOINT_COMMANDS: readonly Command[] = endpoints.map(toCommand);

function toCommand(endpoint: Endpoint): Command {
  const name = endpoint.name as EndpointName;
  const fields = fieldsOf(endpoint);
  const place = fields.find(({ option }) => option.name === NAMED_BY_PLACE[name])?.option;
  const isMany = place?.kind === 'list';
  const placeholder = place?.name.toUpperCase().replaceAll('-', '_').replace(/S$/, '');
  return {
    name: endpoint.name.replaceAll('/', ' '),
    summary: endpoint.summary + (endpoint.sandboxOnly ? ' (sandbox only)' : ''),
    ...(placeholder === undefined ? {} : { words: `[${placeholder}${isMany ? ' ...' : ''}]` }),
    maxWords: place === undefined ? 0 : isMany ? 100 : 1,
    options: [...fields.map(({ option }) => option), BODY, ...(endpoint.write ? [IDEMPOTENCY_KEY] : [])],
    ...(NOTES[name] === undefined ? {} : { notes: NOTES[name] }),
    examples: EXAMPLES[name] ?? [],
    usesChannel: true,
    async run({ io, given, words }) {
      const byPlace = place === undefined || words.length === 0 ? {} : { [place.name]: isMany ? words : words[0] };
      const body = fillBody(fields, { ...given, ...byPlace }, await readBody(io, textOf(given, 'body')));
      requireFields(endpoint.request, body);
      requireRules(endpoint, body);
      return send(name, body, { io, given, words });
    },
  };
}

async function send(name: EndpointName, body: object, { io, given }: Call): Promise<number> {
  // Who types a command sees at once that there is no answer, and asks again himself.
  const client = createClient(readChannel(io, given), { retries: 0 });
  const idempotencyKey = textOf(given, 'idempotency-key');
  const { data, replayed } = await client.send(name, body as never, { idempotencyKey });
  if (given['json']) io.out(writeJson(data));
  else {
    io.out(showAnswer(data));
    if (replayed) io.err('this is the answer to the first request under this key');
  }
  return EXIT.ok;
}

async function readBody(io: Io, where: string | undefined): Promise<Record<string, unknown>> {
  if (where === undefined) return {};
  const text = where.trimStart().startsWith('{') ? where : where === '-' ? await io.readInput() : readFile(where);
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
  } catch {
    // Said below, without the text.
  }
  throw new UsageError('--body is no JSON object');
}

function readFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new UsageError(`--body: ${file} cannot be read`);
  }
}
