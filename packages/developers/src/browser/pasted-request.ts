/** A request as somebody has pasted it. What was not there is empty. */
export interface PastedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly host: string;
  /** By their names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

export function readPastedRequest(text: string): PastedRequest | undefined {
  const trimmed = text.trimStart();
  if (trimmed === '') return undefined;
  return /^[$>#]?\s*curl\b/.test(trimmed) ? readCurl(trimmed.replace(/^[$>#]\s*/, '')) : readHttp(trimmed);
}

/** The first line, headers, an empty line, the body. The first line may be missing. */
function readHttp(text: string): PastedRequest {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const [, method = '', target = ''] = /^([A-Z]+) +(\S+)/.exec(lines[0] ?? '') ?? [];
  const end = lines.findIndex((line) => line.trim() === '');
  const head = lines.slice(method === '' ? 0 : 1, end < 0 ? undefined : end);
  const headers = new Map(head.flatMap(readHeader));
  const { path, host } = readTarget(target);
  const body = end < 0 ? '' : lines.slice(end + 1).join('\n');
  return { method, path, host: host || (headers.get('host') ?? ''), headers, body: cutToLength(body, headers) };
}

/** What is pasted often has a line break more than what was sent; the length says so. */
function cutToLength(body: string, headers: ReadonlyMap<string, string>): string {
  const length = Number(headers.get('content-length') ?? Number.NaN);
  const bytes = new TextEncoder().encode(body);
  if (Number.isNaN(length)) return body.replace(/\n+$/, '');
  return bytes.length > length && bytes.slice(length).every((byte) => byte === 10)
    ? new TextDecoder().decode(bytes.slice(0, length))
    : body;
}

function readHeader(line: string): [string, string][] {
  const [, name, value = ''] = /^\s*[<>]?\s*([\w-]+)\s*:\s?(.*?)\s*$/.exec(line) ?? [];
  return name === undefined ? [] : [[name.toLowerCase(), value]];
}

function readTarget(target: string): { path: string; host: string } {
  const [, host = '', path = ''] = /^https?:\/\/([^/?#]+)([^#]*)/.exec(target) ?? [];
  return host === '' ? { path: target, host } : { path: path || '/', host };
}

const BODY_OPTIONS = new Set(['-d', '--data', '--data-raw', '--data-binary', '--data-ascii', '--json']);
const HEADER_OPTIONS = new Set(['-H', '--header']);
const METHOD_OPTIONS = new Set(['-X', '--request']);
/** Others that are followed by a value, which then is no address. */
const VALUE_OPTIONS = new Set([
  '-o',
  '--output',
  '-u',
  '--user',
  '-A',
  '--user-agent',
  '-m',
  '--max-time',
  '-e',
  '--connect-timeout',
]);

function readCurl(text: string): PastedRequest {
  const words = splitShellWords(text).slice(1);
  const headers = new Map<string, string>();
  const bodies: string[] = [];
  let method = '';
  let address = '';
  while (words.length > 0) {
    const [option, attached] = splitOption(words.shift() ?? '');
    const takesValue = [HEADER_OPTIONS, BODY_OPTIONS, METHOD_OPTIONS, VALUE_OPTIONS].some((one) => one.has(option));
    const value = attached ?? (takesValue || option === '--url' ? (words.shift() ?? '') : '');
    if (HEADER_OPTIONS.has(option)) for (const [name, content] of readHeader(value)) headers.set(name, content);
    else if (BODY_OPTIONS.has(option)) bodies.push(value);
    else if (METHOD_OPTIONS.has(option)) method = value;
    else if (option === '--url' || !option.startsWith('-')) address ||= option === '--url' ? value : option;
  }
  const { path, host } = readTarget(/^https?:/.test(address) || address === '' ? address : `http://${address}`);
  return { method: method || 'POST', path, host, headers, body: bodies.join('&') };
}

/** `-HName: value` and `--data=value` are one word each. */
function splitOption(word: string): [string, string | undefined] {
  const [, long, value] = /^(--[\w-]+)=(.*)$/s.exec(word) ?? [];
  if (long !== undefined) return [long, value];
  const short = word.slice(0, 2);
  const isAttached = word.length > 2 && /^-[dHX]$/.test(short);
  return isAttached ? [short, word.slice(2)] : [word, undefined];
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '\\': '\\', "'": "'", '"': '"' };

/** Words as a shell reads them: single quotes, double quotes, $'…' and a backslash. */
function splitShellWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  const part = /\\\r?\n|\s+|\$'((?:[^'\\]|\\.)*)'|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\$]+|\$)/gsy;
  for (const [whole, ansi, single, double, escaped, plain] of text.matchAll(part)) {
    if (/^(\\\r?\n|\s+)$/.test(whole)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    const content =
      ansi?.replaceAll(/\\(u[0-9a-fA-F]{4}|.)/gs, (_, code: string) => unescapeAnsi(code)) ??
      single ??
      double?.replaceAll(/\\([\\"$`])/g, '$1').replaceAll(/\\\n/g, '') ??
      escaped ??
      plain ??
      '';
    word = (word ?? '') + content;
  }
  if (word !== undefined) words.push(word);
  return words;
}

const unescapeAnsi = (code: string): string =>
  code.length === 5 ? String.fromCharCode(Number.parseInt(code.slice(1), 16)) : (ESCAPES[code] ?? code);
