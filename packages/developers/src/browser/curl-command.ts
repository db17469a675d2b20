import { isKnown, takesValue, toLongName } from './curl-options.js';
import { type PastedRequest, readHeader, readTarget } from './request-parts.js';
import { readShellCommand, type ShellWord } from './shell-words.js';

/** An option by its long name and its value, or a word that belongs to no option. */
interface Argument {
  readonly option?: string;
  readonly value: ShellWord;
}

const NOTHING: ShellWord = { text: '', variables: [] };
/** Options that send a body which is not literally in the command. */
const OTHER_BODIES = new Set(['data-urlencode', 'form', 'form-string', 'upload-file']);
const BODIES = new Set(['data', 'data-ascii', 'data-binary', 'data-raw', 'json']);

export function readCurl(text: string): PastedRequest {
  const { words, rest } = readShellCommand(text);
  const all = listArguments(words.slice(1));
  const given = all.slice(
    0,
    [...all, { option: 'next' }].findIndex(({ option }) => option === 'next'),
  );
  const elsewhere = new Map<string, string>();
  const headers = readHeaders(given, elsewhere);
  const body = readBody(given, elsewhere);
  const isInQuery = given.some(({ option }) => option === 'get');
  const { address, others } = findAddress(given);
  const target = readAddress(address, elsewhere);
  return {
    method: readMethod(given),
    host: target.host,
    path: isInQuery && body !== '' ? `${target.path}${target.path.includes('?') ? '&' : '?'}${body}` : target.path,
    headers,
    body: isInQuery ? '' : body,
    elsewhere,
    leftOut: [...listUnknown(given), ...others, ...(rest === '' ? [] : [shorten(rest)])],
  };
}

function listArguments(words: readonly ShellWord[]): Argument[] {
  const left = [...words];
  const found: Argument[] = [];
  for (let word = left.shift(); word; word = left.shift()) {
    const next = () => left.shift() ?? NOTHING;
    if (word.text.startsWith('--')) found.push(readLong(word, next));
    else if (/^-./.test(word.text)) found.push(...readShort(word, next));
    else found.push({ value: word });
  }
  return found;
}

/** Reads `--data value` and `--data=value`. Older versions of curl do not accept the latter. */
function readLong({ text, variables }: ShellWord, next: () => ShellWord): Argument {
  const [, option = '', value] = /^--([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
  if (value !== undefined) return { option, value: { text: value, variables } };
  return { option, value: takesValue(option) ? next() : NOTHING };
}

/**
 * Reads `-sd value` and `-sdvalue`: flags, then one option. The option's value is the rest of the word, or the next
 * word.
 */
function readShort({ text, variables }: ShellWord, next: () => ShellWord): Argument[] {
  const letters = text.slice(1);
  const options = [...letters].map(toLongName);
  const at = options.findIndex(takesValue);
  if (at < 0) return options.map((option) => ({ option, value: NOTHING }));
  const attached = letters.slice(at + 1);
  const value = attached === '' ? next() : { text: attached, variables };
  return options.slice(0, at + 1).map((option, index) => ({ option, value: index === at ? value : NOTHING }));
}

function readHeaders(given: readonly Argument[], elsewhere: Map<string, string>): Map<string, string> {
  const headers = new Map<string, string>();
  for (const { option, value } of given) {
    if (option !== 'header') continue;
    for (const [name, content] of readHeader(value.text)) {
      headers.set(name, content);
      if (value.variables.length > 0) elsewhere.set(name, explainVariables(value.variables));
    }
  }
  return headers;
}

function readBody(given: readonly Argument[], elsewhere: Map<string, string>): string {
  const bodies = given.filter(({ option = '' }) => BODIES.has(option));
  const other = given.find(({ option = '' }) => OTHER_BODIES.has(option));
  const file = bodies.find(({ option, value }) => option !== 'data-raw' && value.text.startsWith('@'))?.value;
  const variables = bodies.flatMap(({ value }) => value.variables);
  if (other) elsewhere.set('body', `--${other.option} builds the body: paste the body as it was sent.`);
  else if (file) elsewhere.set('body', explainFile(file.text.slice(1)));
  else if (variables.length > 0) elsewhere.set('body', explainVariables(variables));
  return other || file ? '' : bodies.map(({ value }) => value.text).join('&');
}

const explainFile = (name: string) =>
  name === '-'
    ? 'The body comes from another command: paste it.'
    : `The body is in the file ${name}: paste its content.`;
const explainVariables = (names: readonly string[]) =>
  `${[...new Set(names)].join(', ')} is replaced by your shell: paste the value that was sent.`;

/** Returns the method that curl would use. */
function readMethod(given: readonly Argument[]): string {
  const has = (name: string) => given.some(({ option }) => option === name);
  const named = given.findLast(({ option }) => option === 'request')?.value.text;
  if (named !== undefined) return named;
  if (has('head')) return 'HEAD';
  if (has('upload-file')) return 'PUT';
  if (has('get')) return 'GET';
  return given.some(({ option = '' }) => BODIES.has(option) || OTHER_BODIES.has(option)) ? 'POST' : 'GET';
}

/**
 * Returns the URL. Prefers a word that begins with http, because any other word may be the value of an unknown option.
 */
function findAddress(given: readonly Argument[]): { address: ShellWord; others: string[] } {
  const bare = given.filter(({ option }) => option === undefined || option === 'url').map(({ value }) => value);
  const address = bare.find(({ text }) => /^https?:\/\//i.test(text)) ?? bare[0] ?? NOTHING;
  return { address, others: bare.filter((one) => one !== address).map(({ text }) => shorten(text)) };
}

/** A host that is a shell variable. Its value is not needed, because the host is not signed. */
const OWN_HOST = /^(?:https?:\/\/)?(?:\$\w+|\$\{[^}]*\})(?::\d+)?(?=\/)/;

function readAddress({ text, variables }: ShellWord, elsewhere: Map<string, string>): { path: string; host: string } {
  const isHostOpen = variables.length > 0 && OWN_HOST.test(text);
  const open = isHostOpen ? variables.slice(1) : variables;
  if (open.length > 0) elsewhere.set('path', explainVariables(open));
  if (isHostOpen) return { path: text.replace(OWN_HOST, '').replace(/#.*/s, ''), host: '' };
  return readTarget(/^https?:/.test(text) || text === '' ? text : `http://${text}`);
}

/** Options that are known and change the request, but that this parser does not interpret. */
const NOT_FOLLOWED = new Set(['config', 'url-query']);

function listUnknown(given: readonly Argument[]): string[] {
  const unknown = given.flatMap(({ option }) =>
    option === undefined || (isKnown(option) && !NOT_FOLLOWED.has(option)) ? [] : [option],
  );
  return unknown.map((option) => (option.startsWith('-') ? option : `--${option}`));
}

const MAX_SHOWN = 40;
const shorten = (text: string) => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);
