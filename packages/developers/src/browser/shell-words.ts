/** A word of a shell command. Its variables are not expanded. */
export interface ShellWord {
  readonly text: string;
  /** Parts that the shell replaces, such as `$name`, `${name}` and `$(command)`. */
  readonly variables: readonly string[];
}

export interface ShellCommand {
  readonly words: readonly ShellWord[];
  /** The part of the text that could not be parsed, for example after an unclosed quotation mark. */
  readonly rest: string;
}

const COMMAND = String.raw`\$\((?:[^()]|\([^()]*\))*\)`;
const VARIABLE = String.raw`${COMMAND}|\$\{[^}]*\}|\$[A-Za-z_]\w*|\$[\d@*#?$!]|\x60[^\x60]*\x60`;
const IN_DOUBLE = new RegExp(String.raw`\\\r?\n|\\([\\"$\x60])|(${VARIABLE})`, 'g');
/** Matches the end of a command: a pipe, a redirection or a separator. */
const END = String.raw`\d?[<>]|[|;&]`;
const PART = new RegExp(
  [
    // A line continuation, with the > that a terminal shows at the beginning of the next line.
    String.raw`(?<joint>\\\r?\n(?:> )?)`,
    String.raw`(?<space>\s+)`,
    String.raw`\$'(?<ansi>(?:[^'\\]|\\.)*)'`,
    "'(?<single>[^']*)'",
    String.raw`\$?"(?<double>(?:[^"\\$\x60]|\\.|${COMMAND}|\$(?!\()|\x60[^\x60]*\x60)*)"`,
    String.raw`\\(?<escaped>.)`,
    `(?<variable>${VARIABLE})`,
    `(?<end>${END})`,
    String.raw`(?<plain>[^\s'"\\$\x60|;&<>]+|\$)`,
  ].join('|'),
  'gsy',
);

/** Splits text into words like a shell, up to the end of the command. */
export function readShellCommand(text: string): ShellCommand {
  const words: ShellWord[] = [];
  let word: ShellWord | undefined;
  let read = 0;
  for (const match of text.matchAll(PART)) {
    const { joint, space, end } = match.groups ?? {};
    read = end === undefined ? match.index + match[0].length : text.length;
    if (end !== undefined) break;
    if (joint !== undefined) continue;
    if (space !== undefined) {
      if (word) words.push(word);
      word = undefined;
      continue;
    }
    const part = readPart(match.groups ?? {});
    word = { text: (word?.text ?? '') + part.text, variables: [...(word?.variables ?? []), ...part.variables] };
  }
  if (word) words.push(word);
  return { words, rest: text.slice(read) };
}

function readPart(part: Readonly<Record<string, string | undefined>>): ShellWord {
  const { ansi, single, double, escaped, variable, plain } = part;
  if (double !== undefined) return readDouble(double);
  if (variable !== undefined) return { text: variable, variables: [variable] };
  return { text: ansi === undefined ? (single ?? escaped ?? plain ?? '') : unescapeAnsi(ansi), variables: [] };
}

function readDouble(content: string): ShellWord {
  const variables: string[] = [];
  const text = content.replace(IN_DOUBLE, (_, escaped: string | undefined, variable: string | undefined) => {
    if (variable !== undefined) variables.push(variable);
    return variable ?? escaped ?? '';
  });
  return { text, variables };
}

const ESCAPES: Readonly<Record<string, string>> = {
  ...{ n: '\n', r: '\r', t: '\t', a: '\x07', b: '\b', e: '\x1b', E: '\x1b', f: '\f', v: '\v' },
  ...{ '\\': '\\', "'": "'", '"': '"', '?': '?' },
};
const BYTE = String.raw`\\x[0-9a-fA-F]{1,2}|\\[0-7]{1,3}`;
const ANSI = new RegExp(
  String.raw`(?<bytes>(?:${BYTE})+)|\\u(?<short>[0-9a-fA-F]{1,4})|\\U(?<long>[0-9a-fA-F]{1,8})|\\(?<one>.)`,
  'gs',
);

function unescapeAnsi(content: string): string {
  return [...content.matchAll(ANSI)].reduceRight((text, { 0: whole, index, groups = {} }) => {
    const { bytes, short, long, one = '' } = groups;
    const code = short ?? long;
    const char = bytes ? decodeBytes(bytes) : code ? toChar(Number.parseInt(code, 16)) : (ESCAPES[one] ?? whole);
    return text.slice(0, index) + char + text.slice(index + whole.length);
  }, content);
}

/** Decodes adjacent byte escapes together as UTF-8, because one character may have several bytes. */
function decodeBytes(escapes: string): string {
  const bytes = escapes
    .split('\\')
    .slice(1)
    .map((code) => (code.startsWith('x') ? Number.parseInt(code.slice(1), 16) : Number.parseInt(code, 8)));
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

/** Accepts lone surrogates, because some programs escape each half of a surrogate pair separately. */
const toChar = (code: number) => (code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code));
