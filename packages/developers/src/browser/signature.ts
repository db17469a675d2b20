import {
  CODES,
  type Diagnosis,
  diagnoseRequest,
  type Finding,
  fromBase64,
  HEADERS,
  sha256Hex,
  signRequest,
} from '@perennial/wire';
import { element, find } from './dom.js';
import { readPastedRequest } from './pasted-request.js';

const LINE_NAMES = [
  'method',
  'path',
  'query',
  'SHA-256 of the body',
  HEADERS.timestamp,
  HEADERS.nonce,
  HEADERS.requestId,
];

const root = document.documentElement.dataset['root'] ?? '';
const field = (id: string) => find<HTMLInputElement | HTMLTextAreaElement>(`#${id}`);
const textIn = (id: string): string => field(id)?.value ?? '';
const setValue = (id: string, value: string): void => {
  const one = field(id);
  if (one) one.value = value;
};

/** Parts of the pasted request that have no field in the form. */
interface Pasted {
  readonly method: string;
  readonly host: string;
  /**
   * The fields whose value is not in the pasted text, by field id: where the value is, and the placeholder in the
   * field.
   */
  readonly elsewhere: ReadonlyMap<string, { readonly where: string; readonly shown: string }>;
  readonly leftOut: readonly string[];
}

const NOTHING_PASTED: Pasted = { method: 'POST', host: '', elsewhere: new Map(), leftOut: [] };
const HEADER_FIELDS = [
  ['timestamp', HEADERS.timestamp],
  ['nonce', HEADERS.nonce],
  ['sent-id', HEADERS.requestId],
  ['signature', HEADERS.signature],
] as const;

let pasted = NOTHING_PASTED;
let lookups = 0;
field('request')?.addEventListener('input', readPasted);
find('#signature-form')?.addEventListener('submit', (event) => {
  event.preventDefault();
  showDiagnosis();
});
find('#example')?.addEventListener('click', fillExample);
find('#refused-form')?.addEventListener('submit', (event) => {
  event.preventDefault();
  void showRefused(textIn('request-id').trim());
});
showRefusedOfAddress();

function readPasted(): void {
  const request = readPastedRequest(textIn('request'));
  pasted = NOTHING_PASTED;
  if (!request) return;
  const { method, host, leftOut } = request;
  setValue('path', request.path);
  setValue('body', request.body);
  for (const [id, name] of HEADER_FIELDS) setValue(id, request.headers.get(name.toLowerCase()) ?? '');
  const names: (readonly [id: string, name: string])[] = [['path', 'path'], ['body', 'body'], ...HEADER_FIELDS];
  const elsewhere = names.flatMap(([id, name]) => {
    const where = request.elsewhere.get(name.toLowerCase());
    return where === undefined ? [] : [[id, { where, shown: textIn(id) }] as const];
  });
  pasted = { method, host, leftOut, elsewhere: new Map(elsewhere) };
}

/** Returns the ids of fields that still hold a placeholder, and of empty fields except the body. */
function listMissing(): string[] {
  const ids = ['path', ...HEADER_FIELDS.map(([id]) => id), 'body'];
  const isMissing = (id: string) => id !== 'body' && textIn(id).trim() === '';
  return ids.filter((id) => isMissing(id) || pasted.elsewhere.get(id)?.shown === textIn(id));
}

function explainMissing(missing: readonly string[]): string {
  const label = (id: string) => find(`label[for="${id}"]`)?.textContent ?? id;
  const places = missing.flatMap((id) => {
    const where = pasted.elsewhere.get(id)?.where;
    return where === undefined ? [] : [`${label(id)}: ${where}`];
  });
  return [`Missing: ${missing.map(label).join(', ')}.`, ...places].join(' ');
}

function showDiagnosis(): void {
  const outcome = find<HTMLElement>('#outcome');
  if (!outcome) return;
  const missing = listMissing();
  const appSecret = fromBase64(textIn('app-secret').trim());
  if (missing.length > 0) {
    const parts = find<HTMLDetailsElement>('#parts');
    if (parts) parts.open = true;
    show(outcome, [
      say('wrong', 'The request is incomplete', explainMissing(missing)),
      ...sayMethod(),
      ...sayLeftOut(),
    ]);
    return;
  }
  if (appSecret === undefined || appSecret.length !== 32) {
    const what = appSecret === undefined ? 'is not base64' : `has ${appSecret.length} bytes`;
    show(outcome, [
      say('wrong', 'The appSecret is invalid', `It must be 32 bytes in standard base64 (44 characters), but ${what}.`),
    ]);
    return;
  }
  show(outcome, [...sayMethod(), ...describe(diagnose(appSecret), pasted.method), ...sayLeftOut()]);
}

/** Reports a method other than POST, which the service refuses before it checks the signature. */
function sayMethod(): HTMLElement[] {
  const { method } = pasted;
  if (method === 'POST') return [];
  const text = `The request is sent with ${method}, so it is refused with ${CODES.METHOD_NOT_ALLOWED.code}, whatever its signature.`;
  const way = method === 'GET' ? ' curl sends GET with -G or without a body: add -X POST or --data-raw.' : '';
  return [say('wrong', 'Use POST', text + way)];
}

function sayLeftOut(): HTMLElement[] {
  const { leftOut } = pasted;
  if (leftOut.length === 0) return [];
  const text = `Ignored in the command: ${leftOut.join(' ')}. Compare the parts of the request with what you sent.`;
  return [say('wrong', 'The command was not fully understood', text)];
}

function diagnose(appSecret: Uint8Array): Diagnosis {
  const [path = '', ...query] = textIn('path').trim().split('?');
  const timestamp = textIn('timestamp').trim();
  return diagnoseRequest(
    {
      method: pasted.method,
      host: pasted.host,
      path,
      query: query.join('?'),
      body: new TextEncoder().encode(textIn('body')),
      timestamp,
      nonce: textIn('nonce').trim(),
      requestId: textIn('sent-id').trim(),
      signature: textIn('signature').trim(),
    },
    {
      appSecret,
      callbackSecret: fromBase64(textIn('callback-secret').trim()),
      aesKey: fromBase64(textIn('aes-key').trim()),
    },
    // Passes no clock if the timestamp has 13 digits, as milliseconds have: with a clock, the diagnosis would report
    // the age of a pasted request as a mistake. For any other timestamp, the diagnosis needs the clock to find the
    // unit.
    {
      publicUrl: location.origin + root,
      ...(/^\d{13}$/.test(timestamp) ? {} : { now: performance.timeOrigin }),
    },
  );
}

function describe({ lines, likely }: Diagnosis, method = 'POST'): HTMLElement[] {
  const right = method === 'POST' ? 'The signature is correct' : 'With POST the signature would be correct';
  const findings =
    likely.length === 0 ? [say('right', right, 'It is the signature of these seven lines.')] : likely.map(sayMistake);
  const list = lines.map((line, at) =>
    element(
      'li',
      {},
      element('span', { class: 'number' }, String(at + 1)),
      element('span', {}, element('span', { class: 'name' }, LINE_NAMES[at] ?? ''), line === '' ? '(empty)' : line),
    ),
  );
  return [
    element('div', {}, ...findings),
    element('h3', {}, 'The seven lines'),
    element('ol', { class: 'lines' }, ...list),
  ];
}

const say = (kind: 'right' | 'wrong', title: string, text: string): HTMLElement =>
  element('div', { class: `finding ${kind}` }, element('p', {}, element('b', {}, title)), element('p', {}, text));

/** Shows the hint first: it is specific, while the name stands for a family of mistakes. */
const sayMistake = ({ mistake, hint }: Finding): HTMLElement =>
  element(
    'div',
    { class: 'finding wrong' },
    element('p', {}, element('b', {}, hint)),
    element('p', { class: 'name' }, 'Name in answers: ', element('code', {}, mistake)),
  );

function show(outcome: HTMLElement, content: readonly HTMLElement[]): void {
  outcome.replaceChildren(...content);
  outcome.scrollIntoView({ block: 'nearest' });
}

/** Fills in an example request with a mistake: the hashed body had spaces that the sent body does not have. */
function fillExample(): void {
  const appSecret = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
  const body = '{"grantType":"client_credentials","appId":"test_demo"}';
  const sent = {
    path: '/openapi/v1/auth/token',
    query: '',
    timestamp: '1767225600000',
    nonce: '00112233445566778899aabbccddeeff',
    requestId: '6f1c1e0e-5d0b-4a53-9f7e-2f8d9f0f7a11',
  };
  const hashed = new TextEncoder().encode(body.replaceAll(':', ': ').replaceAll(',', ', '));
  const signature = signRequest({ ...sent, bodySha256: sha256Hex(hashed) }, fromBase64(appSecret) ?? new Uint8Array());
  setValue(
    'request',
    [
      `curl ${location.origin}${root}${sent.path} \\`,
      `  -H 'Content-Type: application/json;charset=UTF-8' \\`,
      `  -H '${HEADERS.appId}: test_demo' \\`,
      `  -H '${HEADERS.timestamp}: ${sent.timestamp}' \\`,
      `  -H '${HEADERS.nonce}: ${sent.nonce}' \\`,
      `  -H '${HEADERS.requestId}: ${sent.requestId}' \\`,
      `  -H '${HEADERS.signature}: ${signature}' \\`,
      `  --data-raw '${body}'`,
    ].join('\n'),
  );
  setValue('app-secret', appSecret);
  readPasted();
  showDiagnosis();
}

function showRefusedOfAddress(): void {
  const requestId = new URLSearchParams(location.search).get('request');
  if (requestId === null) return;
  setValue('request-id', requestId);
  void showRefused(requestId);
}

async function showRefused(requestId: string): Promise<void> {
  const outcome = find<HTMLElement>('#refused-outcome');
  if (!outcome || requestId === '') return;
  lookups += 1;
  const mine = lookups;
  const described = await describeRefused(requestId);
  // Drops the answer if the reader has looked up another request meanwhile.
  if (mine === lookups) show(outcome, described);
}

async function describeRefused(requestId: string): Promise<HTMLElement[]> {
  try {
    const answer = await fetch(`${root}/developers/refused/${encodeURIComponent(requestId)}`, {
      headers: { accept: 'application/json' },
    });
    const found: { diagnosis: Diagnosis } | undefined = answer.ok ? await answer.json() : undefined;
    return found ? describe(found.diagnosis) : [say('wrong', 'No diagnosis found', NOT_KNOWN)];
  } catch {
    return [say('wrong', 'The service does not answer', 'Try again in a moment.')];
  }
}

const NOT_KNOWN =
  'The service keeps diagnoses only in the sandbox, for 15 minutes, for requests with a wrong signature or timestamp, and only on the node that refused them.';
