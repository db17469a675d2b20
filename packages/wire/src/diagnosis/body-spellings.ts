/** How the usual JSON serialiser of a language writes a body. */
interface Spelling {
  readonly by: string;
  /** `spaced` is Python's layout: a space after each comma and colon. */
  readonly layout?: 'compact' | 'spaced' | '  ' | '    ' | '\t';
  readonly fields?: 'as they are' | 'sorted' | 'without nulls';
  /** Replaces characters in the whole text. They occur only inside strings, apart from the + of a number like 1e+21. */
  readonly escapes?: (text: string) => string;
}

/** The depth limit of the interface: deeper bodies are refused anyway, and indenting them would take too long. */
const MAX_DEPTH = 32;

const escapeBy = (pattern: RegExp) => (text: string) => text.replace(pattern, toEscape);
const toEscape = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
const toUpperEscape = (char: string) => `\\u${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
const escapeAscii = escapeBy(/[\u007f-\uffff]/g);
const escapeHtml = escapeBy(/[<>&\u2028\u2029]/g);
const escapeGson = escapeBy(/[<>&='\u2028\u2029]/g);
const escapeSlashes = (text: string) => text.replaceAll('/', '\\/');
const escapeAsPhp = (text: string) => escapeSlashes(escapeAscii(text));
const escapeAsDotNet = (text: string) =>
  text
    .replace(/\\\\|\\"/g, (pair) => (pair === '\\"' ? '\\u0022' : pair))
    .replace(/[<>&'+`\u007f-\uffff]/g, toUpperEscape);

/** The most likely spelling is first, because only the first few are combined with other changes of the signed text. */
const SPELLINGS: readonly Spelling[] = [
  { by: 'without white space' },
  { by: "by Python's json.dumps", layout: 'spaced', escapes: escapeAscii },
  { by: 'with its fields sorted', fields: 'sorted' },
  { by: "by Python's json.dumps with sort_keys", layout: 'spaced', escapes: escapeAscii, fields: 'sorted' },
  { by: "by Python's json.dumps with ensure_ascii=False", layout: 'spaced' },
  { by: "by Python's json.dumps with ensure_ascii=False and sort_keys", layout: 'spaced', fields: 'sorted' },
  { by: "by Python's json.dumps with separators of its own", escapes: escapeAscii },
  { by: "by Python's json.dumps with sort_keys and separators of its own", escapes: escapeAscii, fields: 'sorted' },
  { by: "by Go's json.Marshal, which escapes <, > and &", escapes: escapeHtml },
  { by: "by Go's json.Marshal of a map, which sorts it", escapes: escapeHtml, fields: 'sorted' },
  { by: "by PHP's json_encode, which writes \\/ for a slash", escapes: escapeAsPhp },
  { by: "by PHP's json_encode with JSON_UNESCAPED_UNICODE, which writes \\/ for a slash", escapes: escapeSlashes },
  { by: 'by Gson, which escapes <, >, &, = and the apostrophe', escapes: escapeGson },
  { by: 'by System.Text.Json, which escapes + and quotes', escapes: escapeAsDotNet },
  { by: 'without the fields that are null', fields: 'without nulls' },
  { by: 'indented by two spaces', layout: '  ' },
  { by: 'indented by four spaces', layout: '    ' },
  { by: 'indented by a tab', layout: '\t' },
  { by: 'indented by two spaces, in ASCII', layout: '  ', escapes: escapeAscii },
  { by: 'indented by four spaces, in ASCII', layout: '    ', escapes: escapeAscii },
  { by: "by PHP's json_encode with JSON_PRETTY_PRINT", layout: '    ', escapes: escapeAsPhp },
];

export interface BodySpelling {
  readonly text: string;
  readonly by: string;
}

/** Yields texts that a client may have hashed instead of the body. Each is created on demand. */
export function* spellAgain(body: string): Generator<BodySpelling> {
  const value = parse(body);
  if (isShallow(value, MAX_DEPTH)) {
    const written = new Map<string, string>();
    for (const { by, layout = 'compact', fields = 'as they are', escapes } of SPELLINGS) {
      const name = `${layout} ${fields}`;
      const text = written.get(name) ?? write(arrange(value, fields), layout);
      written.set(name, text);
      yield { text: escapes ? escapes(text) : text, by };
    }
  }
  yield { text: body.trim(), by: 'without the white space around it' };
  yield { text: `${body}\n`, by: 'with a line break at its end' };
  yield { text: body.replaceAll('\r\n', '\n'), by: 'with other line breaks' };
}

/** Returns the JSON value, or undefined if `body` is not JSON. */
function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return value !== undefined;
  return levels > 0 && Object.values(value).every((one) => isShallow(one, levels - 1));
}

function write(value: unknown, layout: NonNullable<Spelling['layout']>): string {
  if (layout === 'compact') return JSON.stringify(value);
  if (layout !== 'spaced') return JSON.stringify(value, null, layout);
  // The pattern also matches whole strings, which stay unchanged with the commas and colons inside them.
  return JSON.stringify(value).replace(/"(?:[^"\\]|\\.)*"?|[,:]/g, (part) => (part.length === 1 ? `${part} ` : part));
}

function arrange(value: unknown, fields: NonNullable<Spelling['fields']>): unknown {
  if (fields === 'as they are' || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => arrange(one, fields));
  const entries = Object.entries(value).map(([key, one]) => [key, arrange(one, fields)] as const);
  if (fields === 'without nulls') return Object.fromEntries(entries.filter(([, one]) => one !== null));
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
