import type { EndpointName } from '@perennial/wire';
import { encryptFields } from './encrypted-examples.js';

export interface Snippet {
  readonly language: string;
  /** The highlighter's name for the language. */
  readonly grammar: string;
  readonly code: string;
}

/** Plaintext that the client encrypts. */
class Encrypted {
  constructor(readonly text: string) {}
}

/** Literals of one language. */
interface Notation {
  readonly indent: string;
  readonly text: (text: string) => string;
  readonly constant: (value: unknown) => string;
  readonly encrypt: (text: string) => string;
  readonly list: readonly [string, string];
  readonly object: readonly [string, string];
  readonly entry: (key: string, value: string) => string;
  /** True if the language allows a trailing comma. */
  readonly lastComma: boolean;
}

const doubleQuoted = (text: string): string => JSON.stringify(text);
const singleQuoted = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;

const PYTHON: Notation = {
  indent: '    ',
  text: doubleQuoted,
  constant: (value) => (value === null ? 'None' : value === true ? 'True' : value === false ? 'False' : String(value)),
  encrypt: (text) => `channel.encrypt(${doubleQuoted(text)})`,
  list: ['[', ']'],
  object: ['{', '}'],
  entry: (key, value) => `${doubleQuoted(key)}: ${value}`,
  lastComma: true,
};
const JAVA: Notation = {
  ...PYTHON,
  constant: String,
  list: ['List.of(', ')'],
  object: ['Map.of(', ')'],
  entry: (key, value) => `${doubleQuoted(key)}, ${value}`,
  lastComma: false,
};
const GO: Notation = {
  ...PYTHON,
  indent: '\t',
  constant: (value) => (value === null ? 'nil' : String(value)),
  encrypt: (text) => `channel.Encrypt(${doubleQuoted(text)})`,
  list: ['[]any{', '}'],
  object: ['map[string]any{', '}'],
};
const PHP: Notation = {
  ...PYTHON,
  text: singleQuoted,
  constant: String,
  encrypt: (text) => `$channel->encrypt(${singleQuoted(text)})`,
  object: ['[', ']'],
  entry: (key, value) => `${singleQuoted(key)} => ${value}`,
};
const NODE: Notation = {
  ...PYTHON,
  indent: '  ',
  text: singleQuoted,
  constant: String,
  encrypt: singleQuoted,
  object: ['{ ', ' }'],
  entry: (key, value) => `${key.replace(/Encrypted$/, '')}: ${value}`,
};

function write(value: unknown, notation: Notation, depth = 0): string {
  if (value instanceof Encrypted) return notation.encrypt(value.text);
  if (typeof value === 'string') return notation.text(value);
  if (Array.isArray(value)) {
    const [open, close] = notation.list;
    return open + value.map((one) => write(one, notation, depth + 1)).join(', ') + close;
  }
  if (typeof value !== 'object' || value === null) return notation.constant(value);
  const [open, close] = notation.object;
  const entries = Object.entries(value).map(([key, field]) => notation.entry(key, write(field, notation, depth + 1)));
  if (entries.length === 0) return open.trim() + close.trim();
  const short = entries.join(', ');
  const isNested = Object.values(value).some(
    (one) => typeof one === 'object' && !(one instanceof Encrypted) && !Array.isArray(one),
  );
  if (!isNested && entries.length <= 2 && short.length <= 44) return open + short + close;
  const inner = notation.indent.repeat(depth + 1);
  const last = notation.lastComma ? ',' : '';
  return `${open.trimEnd()}\n${inner}${entries.join(`,\n${inner}`)}${last}\n${notation.indent.repeat(depth)}${close.trimStart()}`;
}

const withMarks = (request: object): unknown => encryptFields(request, (text) => new Encrypted(text));

const camel = (text: string): string => text.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
const methodOf = (endpoint: string): string => endpoint.split('/').map(camel).join('.');
/** Returns the variable name for the answer of an endpoint. */
const resultName = (endpoint: string): string => {
  const names: Readonly<Record<string, string>> = {
    'auth/token': 'token',
    'products/list': 'products',
    'payment-channels/list': 'channels',
    'agreements/bind-sms': 'binding',
    'agreements/bind-confirm': 'agreement',
    'agreements/user-data': 'cards',
    'agreements/replace': 'replaced',
    'orders/list': 'orders',
    'payments/query': 'period',
    'events/list': 'events',
    'events/replay': 'replay',
    'sandbox/events/test': 'push',
    'sandbox/requests/list': 'requests',
    'sandbox/channel/set': 'settings',
  };
  return names[endpoint] ?? (endpoint.includes('orders/') ? 'order' : 'answer');
};

/** Returns a body for sh: JSON in single quotes, with a call of `seal` for each encrypted field. */
function shellBody(request: object): string {
  const json = JSON.stringify(
    encryptFields(request, (text) => `⟦${text}⟧`),
    null,
    2,
  );
  const quoted = json.replaceAll("'", `'\\''`);
  // ⟦ and ⟧ mark the encrypted fields: JSON does not escape these two characters, and no example contains them.
  return quoted.replaceAll(/⟦([^⟦⟧]*)⟧/g, (_, text: string) => `'"$(seal ${text})"'`);
}

/** Returns the same call in each language. The SDK or the language's client signs it. */
export function snippetsFor(endpoint: EndpointName, request: Readonly<Record<string, unknown>>): Snippet[] {
  const value = withMarks(request);
  const name = resultName(endpoint);
  const isEmpty = Object.keys(request).length === 0;
  const nodeBody = endpoint === 'auth/token' || isEmpty ? '' : write(value, NODE);
  const nodeComment = endpoint === 'auth/token' ? '// The client gets and renews tokens automatically.\n' : '';
  const body = (notation: Notation) => write(value, notation);
  const compact = JSON.stringify(request);
  const shell = compact.length <= 44 && !compact.includes('Encrypted') ? compact : shellBody(request);
  const seal = shell.includes('$(seal ') ? `seal() { printf %s "$1" | ./perennial.sh encrypt; }\n\n` : '';
  return [
    {
      language: 'Node',
      grammar: 'js',
      code: `${nodeComment}const ${name} = await perennial.${methodOf(endpoint)}(${nodeBody});`,
    },
    { language: 'Python', grammar: 'python', code: `${name} = channel.call("${endpoint}", ${body(PYTHON)})` },
    { language: 'Java', grammar: 'java', code: `var ${name} = channel.call("${endpoint}", ${body(JAVA)});` },
    { language: 'Go', grammar: 'go', code: `${name}, err := channel.Call("${endpoint}", ${body(GO)})` },
    { language: 'PHP', grammar: 'php', code: `$${name} = $channel->call('${endpoint}', ${body(PHP)});` },
    { language: 'curl', grammar: 'sh', code: `${seal}./perennial.sh ${endpoint} '${shell}'` },
  ];
}
