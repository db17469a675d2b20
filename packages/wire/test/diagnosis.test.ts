import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { MAX_DIAGNOSIS_TRIES, MISTAKES, type ReceivedRequest } from '../src/diagnosis/index.js';
import { loaded, loadOn, platforms } from './platforms.js';

/** The secrets of a channel. This test makes wrong signatures itself, as a client would, without the tested code. */
const secretOf = (name: string) => createHash('sha256').update(`the ${name} of a test`).digest();
/** The secrets are constant, because the two base64 alphabets differ only for some signatures. */
const secrets = {
  appSecret: secretOf('appSecret'),
  callbackSecret: secretOf('callbackSecret'),
  aesKey: secretOf('aesKey'),
  formerAppSecret: secretOf('formerAppSecret'),
};
const SENT = {
  path: '/openapi/v1/orders/create',
  query: '',
  body: '{"name":"Zoë <a&b> \'x\'","card":"svc_aes_v2:ab+/c=","n":1,"list":[1,"b"],"none":null,"o":{}}',
  timestamp: '1767225600123',
  nonce: '00112233445566778899aabbccddeeff',
  requestId: '6f1c1e0e-5d0b-4a53-9f7e-2f8d9f0f7a11',
};
const earlier = [
  { timestamp: '1767225599001', nonce: 'aa'.repeat(16), requestId: 'earlier-1' },
  { timestamp: '1767225599002', nonce: 'bb'.repeat(16), requestId: 'earlier-2' },
];
const context = { earlier, now: 1_767_225_600_500, publicUrl: 'https://pay.example' };
const sha256 = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex');
const hash = (...parts: (string | Uint8Array)[]) =>
  parts.reduce((hashed, part) => hashed.update(part), createHash('sha256')).digest();
const hmac = (key: string | Uint8Array, text: string | Uint8Array) => createHmac('sha256', key).update(text).digest();
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

interface Client {
  readonly sent?: Partial<typeof SENT>;
  readonly key?: Buffer | string;
  /** Returns the lines that the client signs, from the correct lines. */
  readonly lines?: (right: string[]) => string[];
  readonly digest?: string;
  readonly join?: string;
  readonly end?: string;
  readonly encode?: (mac: Buffer) => string;
  /** Replaces the HMAC of the text. */
  readonly mac?: (text: string) => Buffer;
}

/** Returns the request of a client that makes these mistakes. */
function request({ sent = {}, key = secrets.appSecret, ...client }: Client = {}): ReceivedRequest {
  const { body, ...parts } = { ...SENT, ...sent };
  const { path, query, timestamp, nonce, requestId } = parts;
  const right = ['POST', path, query, client.digest ?? sha256(body), timestamp, nonce, requestId];
  const lines = client.lines?.(right) ?? right;
  const text = lines.join(client.join ?? '\n') + (client.end ?? '');
  const mac = client.mac?.(text) ?? hmac(key, text);
  const signature = client.encode?.(mac) ?? mac.toString('base64');
  return { ...parts, body: Buffer.from(body), signature, method: 'POST', host: 'localhost:8080' };
}

const line = (at: number, change: (line: string) => string) => (lines: string[]) =>
  lines.map((one, index) => (index === at ? change(one) : one));
const spelled = (body: string): Client => ({ digest: sha256(body) });
const hex = (mac: Buffer) => mac.toString('hex');
const url = (mac: Buffer) => mac.toString('base64url');
const ofHex = (mac: Buffer) => base64(Buffer.from(mac.toString('hex')));
const keyText = base64(secrets.appSecret);
const query = { query: 'b=1&a=%2F' };
const reorder =
  (...order: number[]) =>
  (lines: string[]) =>
    order.map((at) => lines[at] ?? '');

const PYTHON_BODY = `{"name": "Zo\\u00eb <a&b> 'x'", "card": "svc_aes_v2:ab+/c=", "n": 1, "list": [1, "b"], "none": null, "o": {}}`;
/** The same body as other serialisers would write it. */
const SPELLED: Readonly<Record<string, string>> = {
  Python: PYTHON_BODY,
  'Python, sorted': `{"card": "svc_aes_v2:ab+/c=", "list": [1, "b"], "n": 1, "name": "Zo\\u00eb <a&b> 'x'", "none": null, "o": {}}`,
  'Python, not in ASCII': SENT.body
    .replaceAll(/([":\]1l]),(?=")|":(?!a)/g, (part) => `${part} `)
    .replace('1,"b"', '1, "b"'),
  'Python, compact': SENT.body.replace('ë', '\\u00eb'),
  Go: SENT.body.replace('<a&b>', '\\u003ca\\u0026b\\u003e'),
  'Go, from a map': `{"card":"svc_aes_v2:ab+/c=","list":[1,"b"],"n":1,"name":"Zoë \\u003ca\\u0026b\\u003e 'x'","none":null,"o":{}}`,
  PHP: SENT.body.replace('ë', '\\u00eb').replace('/', '\\/'),
  'PHP, unescaped': SENT.body.replace('/', '\\/'),
  Gson: `{"name":"Zoë \\u003ca\\u0026b\\u003e \\u0027x\\u0027","card":"svc_aes_v2:ab+/c\\u003d","n":1,"list":[1,"b"],"none":null,"o":{}}`,
  '.NET': `{"name":"Zo\\u00EB \\u003Ca\\u0026b\\u003E \\u0027x\\u0027","card":"svc_aes_v2:ab\\u002B/c=","n":1,"list":[1,"b"],"none":null,"o":{}}`,
  'without nulls': SENT.body.replace('"none":null,', ''),
  'two spaces': `{\n  "name": "Zoë <a&b> 'x'",\n  "card": "svc_aes_v2:ab+/c=",\n  "n": 1,\n  "list": [\n    1,\n    "b"\n  ],\n  "none": null,\n  "o": {}\n}`,
  'four spaces': JSON.stringify(JSON.parse(SENT.body), null, 4),
};
const ALONE: readonly (readonly [mistake: string, how: string, client: Client])[] = [
  ['secret-not-decoded', 'its text', { key: keyText }],
  ['secret-not-decoded', 'its text with a line break', { key: `${keyText}\n` }],
  ['secret-not-decoded', 'in hex', { key: secrets.appSecret.toString('hex') }],
  ['secret-not-decoded', 'decoded into a text of UTF-8', { key: secrets.appSecret.toString('utf8') }],
  ['secret-not-decoded', 'decoded by atob', { key: Buffer.from(atob(keyText), 'utf8') }],
  ['secret-of-callback', 'decoded', { key: secrets.callbackSecret }],
  ['secret-of-encryption', 'decoded', { key: secrets.aesKey }],
  ['secret-before-reset', 'decoded', { key: secrets.formerAppSecret }],
  ['hmac-missing', 'the lines alone', { mac: (text) => hash(text) }],
  ['hmac-missing', 'the secret before the lines', { mac: (text) => hash(secrets.appSecret, text) }],
  ['hmac-missing', 'the secret behind the lines', { mac: (text) => hash(text, secrets.appSecret) }],
  ['hmac-missing', 'the text of the secret in an eighth line', { mac: (text) => hash(`${text}\n${keyText}`) }],
  ['hmac-swapped', 'the bytes of the secret', { mac: (text) => hmac(text, secrets.appSecret) }],
  ['hmac-swapped', 'the text of the secret', { mac: (text) => hmac(text, keyText) }],
  ['signature-hex', 'in lower case', { encode: hex }],
  ['signature-hex', 'in capitals', { encode: (mac) => hex(mac).toUpperCase() }],
  ['signature-hex', 'behind a name', { encode: (mac) => `sha256=${hex(mac)}` }],
  ['signature-base64url', 'as it is', { encode: (mac) => url(mac) }],
  ['signature-base64url', 'with padding', { encode: (mac) => `${url(mac)}=` }],
  ['signature-base64url', 'without padding', { encode: (mac) => base64(mac).slice(0, -1) }],
  ['signature-base64url', 'percent-encoded', { encode: (mac) => encodeURIComponent(base64(mac)) }],
  ['signature-base64url', 'in quotation marks', { encode: (mac) => `"${base64(mac)}"` }],
  ['signature-hex', 'in quotation marks', { encode: (mac) => `'${hex(mac)}'` }],
  ['signature-base64-of-hex', 'as it is', { encode: ofHex }],
  ['signature-base64-of-hex', 'twice', { encode: (mac) => base64(Buffer.from(base64(mac))) }],
  ...Object.entries(SPELLED).map(([by, body]) => ['body-serialised-again', by, spelled(body)] as const),
  ['body-serialised-again', 'compact, and sent with spaces', { sent: { body: '{ "n" : 1 }' }, ...spelled('{"n":1}') }],
  [
    'body-serialised-again',
    'without the line break that was sent',
    { sent: { body: '{"n":1}\n' }, ...spelled('{"n":1}') },
  ],
  ['body-serialised-again', 'with a line break that was not sent', spelled(`${SENT.body}\n`)],
  ['body-serialised-again', 'as a text in quotes', spelled(JSON.stringify(SENT.body))],
  ['body-not-hashed', 'as it is', { digest: SENT.body }],
  ['body-not-hashed', 'an empty one', spelled('')],
  ['body-not-hashed', 'nothing at all', { digest: '' }],
  ['digest-upper-case', 'as it is', { digest: sha256(SENT.body).toUpperCase() }],
  ['digest-upper-case', 'in base64', { digest: Buffer.from(sha256(SENT.body), 'hex').toString('base64') }],
  ['lines-in-other-order', 'two neighbours', { lines: reorder(0, 1, 2, 3, 5, 4, 6) }],
  ['lines-in-other-order', 'request id before the nonce', { lines: reorder(0, 1, 2, 3, 4, 6, 5) }],
  ['lines-in-other-order', 'body last', { lines: reorder(0, 1, 2, 4, 5, 6, 3) }],
  ['lines-in-other-order', 'timestamp first', { lines: reorder(4, 0, 1, 2, 3, 5, 6) }],
  ['lines-in-other-order', 'method in lower case', { lines: line(0, () => 'post') }],
  ['lines-in-other-order', 'GET', { lines: line(0, () => 'GET') }],
  ['lines-in-other-order', 'PUT', { lines: line(0, () => 'PUT') }],
  ['lines-in-other-order', 'method with a capital', { lines: line(0, () => 'Post') }],
  ['lines-in-other-order', 'without the method', { lines: reorder(1, 2, 3, 4, 5, 6) }],
  ['empty-line-missing', 'as it is', { lines: reorder(0, 1, 3, 4, 5, 6) }],
  ['empty-line-missing', 'a mark alone', { lines: line(2, () => '?') }],
  ['empty-line-missing', 'an empty line for a query', { sent: query, lines: line(2, () => '') }],
  ['empty-line-missing', 'a query with its mark', { sent: query, lines: line(2, (text) => `?${text}`) }],
  ['empty-line-missing', 'a query that is decoded', { sent: query, lines: line(2, decodeURIComponent) }],
  ['empty-line-missing', 'a query that is sorted', { sent: query, lines: line(2, () => 'a=%2F&b=1') }],
  ['crlf', 'as it is', { join: '\r\n' }],
  ['crlf', 'a backslash and an n', { join: '\\n' }],
  ['crlf', 'nothing', { join: '' }],
  ['trailing-newline', 'as it is', { end: '\n' }],
  ['path-with-host', 'https', { lines: line(1, (path) => `https://pay.example${path}`) }],
  ['path-with-host', 'the host that was called', { lines: line(1, (path) => `http://localhost:8080${path}`) }],
  ['path-with-host', 'without a scheme', { lines: line(1, (path) => `localhost:8080${path}`) }],
  ['path-with-host', 'without a port', { lines: line(1, (path) => `localhost${path}`) }],
  [
    'path-with-host',
    'and the query',
    { sent: query, lines: (l) => line(2, () => '')(line(1, (path) => `https://pay.example${path}?${l[2]}`)(l)) },
  ],
  ['path-with-host', 'the query alone', { sent: query, lines: (l) => line(1, (path) => `${path}?${l[2]}`)(l) }],
  ['path-without-prefix', 'as it is', { lines: line(1, () => '/orders/create') }],
  ['path-without-prefix', 'and without a slash', { lines: line(1, () => 'orders/create') }],
  ['path-without-prefix', 'the first slash', { lines: line(1, (path) => path.slice(1)) }],
  ['path-without-prefix', 'the first part', { lines: line(1, () => '/v1/orders/create') }],
  ['path-with-slash', 'as it is', { lines: line(1, (path) => `${path}/`) }],
  ['path-with-slash', 'a question mark', { lines: line(1, (path) => `${path}?`) }],
  ['path-with-slash', 'a question mark before a query', { sent: query, lines: line(1, (path) => `${path}?`) }],
  ['timestamp-in-seconds', 'cut', { lines: line(4, () => '1767225600') }],
  ['timestamp-in-seconds', 'rounded up', { lines: line(4, () => '1767225601') }],
  ['timestamp-in-seconds', 'with a fraction', { lines: line(4, () => '1767225600.123') }],
  ['timestamp-in-seconds', 'filled up with zeros', { lines: line(4, () => '1767225600000') }],
  ['timestamp-in-seconds', 'rounded up and filled up with zeros', { lines: line(4, () => '1767225601000') }],
  ['other-timestamp', 'a millisecond before the sent one', { lines: line(4, (ms) => String(Number(ms) - 1)) }],
  ['other-timestamp', 'a tenth of a second after the sent one', { lines: line(4, (ms) => String(Number(ms) + 100)) }],
  ['other-timestamp', 'a second after the sent one', { lines: line(4, (ms) => String(Number(ms) + 1_000)) }],
  ['other-nonce', 'of another request', { lines: line(5, () => 'bb'.repeat(16)) }],
  ['other-nonce', 'in capitals', { lines: line(5, (nonce) => nonce.toUpperCase()) }],
  ['other-nonce', 'with dashes', { lines: line(5, () => '00112233-4455-6677-8899-aabbccddeeff') }],
  ['other-nonce', 'left out', { lines: reorder(0, 1, 2, 3, 4, 6) }],
  [
    'other-nonce',
    'and the time of another request',
    { lines: (l) => line(4, () => '1767225599002')(line(5, () => 'bb'.repeat(16))(l)) },
  ],
  ['other-request-id', 'of another request', { lines: line(6, () => 'earlier-1') }],
  ['other-request-id', 'left out', { lines: reorder(0, 1, 2, 3, 4, 5) }],
  ['other-request-id', 'empty', { lines: line(6, () => '') }],
  ['other-request-id', 'the nonce in its place', { lines: reorder(0, 1, 2, 3, 4, 5, 5) }],
  ['other-request-id', 'in capitals', { lines: line(6, (id) => id.toUpperCase()) }],
];

const PAIRS: readonly (readonly [mistakes: readonly string[], client: Client])[] = [
  [['secret-not-decoded', 'signature-hex'], { key: keyText, encode: hex }],
  [['secret-of-callback', 'secret-not-decoded'], { key: base64(secrets.callbackSecret) }],
  [['secret-before-reset', 'signature-base64url'], { key: secrets.formerAppSecret, encode: url }],
  [['secret-not-decoded', 'empty-line-missing'], { key: keyText, lines: reorder(0, 1, 3, 4, 5, 6) }],
  [['secret-not-decoded', 'path-without-prefix'], { key: keyText, lines: line(1, () => 'orders/create') }],
  [
    ['secret-not-decoded', 'body-serialised-again', 'signature-hex'],
    { key: keyText, encode: hex, ...spelled(PYTHON_BODY) },
  ],
  [['secret-of-callback', 'crlf'], { key: secrets.callbackSecret, join: '\r\n' }],
  [['secret-of-encryption', 'timestamp-in-seconds'], { key: secrets.aesKey, lines: line(4, () => '1767225600') }],
  [['hmac-missing', 'signature-hex'], { mac: (text) => hash(text), encode: hex }],
  [['empty-line-missing', 'signature-base64-of-hex'], { lines: reorder(0, 1, 3, 4, 5, 6), encode: ofHex }],
  [['empty-line-missing', 'trailing-newline'], { lines: reorder(0, 1, 3, 4, 5, 6), end: '\n' }],
  [['crlf', 'trailing-newline'], { join: '\r\n', end: '\r\n' }],
  [
    ['digest-upper-case', 'path-with-slash'],
    { digest: sha256(SENT.body).toUpperCase(), lines: line(1, (path) => `${path}/`) },
  ],
  [
    ['timestamp-in-seconds', 'path-with-host'],
    { lines: (l) => line(4, () => '1767225600')(line(1, (path) => `https://pay.example${path}`)(l)) },
  ],
  [
    ['other-nonce', 'other-request-id'],
    { lines: (l) => [...l.slice(0, 4), '1767225599001', 'aa'.repeat(16), 'earlier-1'] },
  ],
];

describe.each(platforms)('diagnosis of a signature on %s', (_name, platform) => {
  let wire: Awaited<ReturnType<typeof loadOn>>;
  let tries = 0;
  beforeAll(async () => {
    const hmacSha256: typeof platform.hmacSha256 = (...given) => {
      tries += 1;
      return platform.hmacSha256(...given);
    };
    wire = await loadOn({ ...platform, hmacSha256 });
  });
  const diagnose = (came: ReceivedRequest) => wire.diagnoseRequest(came, secrets, context);
  const named = (client: Client) => diagnose(request(client)).likely.map(({ mistake }) => mistake);

  it('a correct one has none, and its lines are the signed ones', () => {
    const { lines, likely } = diagnose(request({ sent: query }));
    expect(likely).toEqual([]);
    const { path, timestamp, nonce, requestId } = SENT;
    expect(lines).toEqual(['POST', path, query.query, sha256(SENT.body), timestamp, nonce, requestId]);
    const former = request({ key: secrets.formerAppSecret });
    expect(wire.diagnoseRequest(former, { ...secrets, isFormerTaken: true }, context).likely).toEqual([]);
  });

  it.each(ALONE)('%s: %s', (mistake, _how, client) => {
    expect(named(client)).toEqual([mistake]);
  });

  it.each(PAIRS)('together: %j', (mistakes, client) => {
    expect(named(client).toSorted()).toEqual(mistakes.toSorted());
  });

  it.each([
    ['GET as the method', { lines: line(0, () => 'GET') }],
    ['in quotation marks', { encode: (mac: Buffer) => `"${base64(mac)}"` }],
    ['3 ms before the one you sent', { lines: line(4, () => '1767225600120') }],
    ['filled up with 000', { lines: line(4, () => '1767225600000') }],
    ['a question mark for the query', { lines: line(2, () => '?') }],
    ['a question mark at its end', { lines: line(1, (path) => `${path}?`) }],
  ])('says it, where the name of the mistake says less: %s', (says, client: Client) => {
    expect(diagnose(request(client)).likely).toMatchObject([{ hint: expect.stringContaining(says) }]);
  });

  it('only unknown for any other mistake', () => {
    for (const client of [{ key: 'something else' }, { lines: line(4, () => '1767225600777') }]) {
      expect(named(client)).toEqual(['unknown']);
    }
    const [sha1] = diagnose({ ...request(), signature: base64(randomBytes(20)) }).likely;
    expect(sha1).toMatchObject({ mistake: 'unknown', hint: expect.stringContaining('SHA-1') });
    for (const signature of ['', 'x', '='.repeat(44), 'A'.repeat(1024), '\u0000é']) {
      expect(diagnose({ ...request(), signature }).likely).toMatchObject([{ mistake: 'unknown' }]);
    }
  });

  it.each([
    ['seconds', '1767225600', 'timestamp-in-seconds', 'in seconds'],
    ['microseconds', '1767225600123000', 'timestamp-in-seconds', 'in microseconds'],
    ['nanoseconds', '1767225600123000000', 'timestamp-in-seconds', 'in nanoseconds'],
    ['a clock that is late', '1767225000000', 'unknown', '10 minutes behind'],
    ['a clock that is a time zone ahead', '1767254400000', 'unknown', '8 hours ahead'],
    ['zero', '0', 'unknown', '56 years behind'],
  ])('a timestamp that is refused: %s', (_what, timestamp, mistake, says) => {
    const came = request({ sent: { timestamp } });
    const likely = [{ mistake, hint: expect.stringContaining(says) }];
    expect(diagnose(came).likely).toEqual(likely);
    const unread = diagnose({ ...came, body: undefined });
    expect(unread).toMatchObject({ likely, lines: expect.arrayContaining(['(the body was not read)', timestamp]) });
  });

  it('a timestamp in seconds and another mistake are both reported', () => {
    expect(named({ sent: { timestamp: '1767225600' }, join: '\r\n' })).toEqual(['timestamp-in-seconds', 'crlf']);
    expect(named({ sent: { timestamp: '1767225000000' }, join: '\r\n' })).toEqual(['crlf']);
  });

  it(`takes ${MAX_DIAGNOSIS_TRIES} HMACs at most, and covers everything within them`, () => {
    const many = Array.from({ length: 40 }, (_, n) => ({ timestamp: `${n}`, nonce: `${n}`, requestId: `n${n}` }));
    const came = request({ key: 'nobody', sent: { query: 'b=1&a=%2F', nonce: 'aA'.repeat(16), requestId: 'aA-b' } });
    tries = 0;
    wire.diagnoseRequest(came, secrets, { ...context, earlier: many });
    expect(tries).toBeGreaterThan(300);
    // There are fewer tries than the limit even with all lists at their longest, so the limit cut nothing off.
    expect(tries).toBeLessThan(MAX_DIAGNOSIS_TRIES);
    const both = { ...secrets, isFormerTaken: true };
    tries = 0;
    wire.diagnoseRequest(came, both, { ...context, earlier: many });
    expect(tries).toBeLessThanOrEqual(MAX_DIAGNOSIS_TRIES);
  });

  it('does not respell a body of more than 4 KiB, nor a deep one', () => {
    const long = JSON.stringify({ text: 'x'.repeat(4_096) });
    const [found] = diagnose(request({ sent: { body: long }, ...spelled(`${long}\n`) })).likely;
    expect(found).toMatchObject({ mistake: 'unknown', hint: expect.stringContaining('4 KiB') });
    const deep = `${'['.repeat(1_900)}${']'.repeat(1_900)}`;
    expect(named({ sent: { body: deep }, ...spelled(`${deep}\n`) })).toEqual(['body-serialised-again']);
    expect(named({ sent: { body: deep }, key: 'nobody' })).toEqual(['unknown']);
  });

  it('limits and escapes the lines it shows', () => {
    const came = {
      ...request(),
      path: `/\u001b[2J\u202e${'x'.repeat(20_000)}`,
      query: `secret=${keyText}`,
      requestId: 'a\nb',
    };
    const { lines } = diagnose(came);
    expect(lines).toHaveLength(7);
    for (const shown of lines) {
      expect(shown).toMatch(/^[\x20-\x7e]*…?$/);
      expect(shown.length).toBeLessThanOrEqual(1_024);
    }
    expect(lines.slice(2, 3)).toEqual(['secret=[secret]']);
    expect(lines[6]).toBe('a\\u000ab');
  });

  it('contains no secret, no key and no correct signature, whatever the mistake', () => {
    const given = { ...secrets };
    const spellings = (bytes: Uint8Array) =>
      (['base64', 'base64url', 'hex', 'latin1'] as const).map((form) => Buffer.from(bytes).toString(form));
    const derived = createHmac('sha256', given.aesKey).update('svc_aes_v2').digest();
    const secret = [...Object.values(given), derived].flatMap(spellings);
    const client: fc.Arbitrary<Client> = fc.oneof(
      fc.constantFrom(...ALONE.map(([, , one]) => one), ...PAIRS.map(([, one]) => one)),
      fc.record({ key: fc.constantFrom(...Object.values(given), keyText), end: fc.string(), join: fc.string() }),
    );
    const sent = fc.record({
      path: fc.string(),
      query: fc.constantFrom('', keyText, 'a=1'),
      nonce: fc.string(),
      requestId: fc.uuid(),
      body: fc.json(),
    });
    fc.assert(
      fc.property(client, sent, fc.boolean(), (wrong, parts, isUsual) => {
        const came = request({ ...wrong, sent: isUsual ? {} : parts });
        const right = request({ sent: isUsual ? (wrong.sent ?? {}) : parts });
        const text = JSON.stringify(wire.diagnoseRequest(came, given, context));
        for (const one of [...secret, ...spellings(Buffer.from(right.signature, 'base64'))])
          expect(text).not.toContain(one);
      }),
      { numRuns: 60 },
    );
  });

  it('every mistake has its text, and a hint has two sentences or three at most', () => {
    const names = MISTAKES.map(({ mistake }) => mistake);
    expect(names.at(-1)).toBe('unknown');
    const tested = new Set<string>(ALONE.map(([mistake]) => mistake));
    expect(names.filter((name) => name !== 'unknown' && !tested.has(name))).toEqual([]);
    for (const { hint } of MISTAKES) expect(hint.match(/\.(?= |$)/g)?.length, hint).toBeLessThanOrEqual(2);
  });
});

describe.each(loaded)('diagnosis of an encrypted field on %s', (_name, platform, wire) => {
  const { aesKey, appSecret, callbackSecret } = secrets;
  const TEXT = '6222020000001234567';
  const bytesOf = (value: string) => Buffer.from(value.slice('svc_aes_v2:'.length), 'base64');
  const again = (value: string, change: (bytes: Buffer) => Buffer) =>
    value.slice(0, 'svc_aes_v2:'.length) + base64(change(bytesOf(value)));
  const v1 = (key: Uint8Array = aesKey) => wire.encryptField(TEXT, key, 'v1');
  const v2 = (key: Uint8Array = aesKey) => wire.encryptField(TEXT, key, 'v2');
  const rawGcm = (key: Uint8Array) => {
    const iv = randomBytes(12);
    return `svc_aes_v2:${base64(Buffer.concat([iv, platform.aes256GcmEncrypt(key, iv, Buffer.from(TEXT))]))}`;
  };
  const derived = createHmac('sha256', aesKey).update('svc_aes_v2').digest();
  const textKey = Buffer.from(base64(aesKey)).subarray(0, 32);
  const tagFirst = (bytes: Buffer) =>
    Buffer.concat([bytes.subarray(0, 12), bytes.subarray(-16), bytes.subarray(12, -16)]);

  it.each<[cause: string, says: string, make: () => string]>([
    ['prefix', 'begins with neither', () => TEXT],
    ['prefix', 'begins with neither', () => ''],
    ['prefix', 'begins with neither', () => v2().replace('svc_aes_v2:', '')],
    ['prefix', 'in capitals', () => v2().replace('svc_aes', 'SVC_AES')],
    ['prefix', 'colon', () => v2().replace(':', '')],
    ['prefix', 'white space', () => ` ${v1()}`],
    ['prefix', 'encrypted as svc_aes_v1', () => v1().replace('v1', 'v2')],
    ['prefix', 'encrypted as svc_aes_v2', () => v2().replace('v2', 'v1')],
    ['base64', 'line break', () => `${v2().slice(0, 30)}\n${v2().slice(30)}`],
    ['base64', 'base64url', () => `svc_aes_v2:${Buffer.alloc(50, 0xff).toString('base64url')}`],
    ['base64', 'is missing', () => 'svc_aes_v2:xxxxxxxxxxxxxxxxxxxxxQ'],
    ['base64', 'is hex', () => `svc_aes_v2:${randomBytes(25).toString('hex')}`],
    ['base64', 'not base64', () => 'svc_aes_v1:?!'],
    ['length', 'too short', () => again(v2(), (bytes) => bytes.subarray(0, 27))],
    ['length', 'too short', () => again(v1(), (bytes) => bytes.subarray(0, 16))],
    ['length', 'multiple of 16', () => again(v1(), (bytes) => bytes.subarray(0, -1))],
    ['key', 'under the appSecret', () => v1(appSecret)],
    ['key', 'under the appSecret', () => v2(appSecret)],
    ['key', 'under the callbackSecret', () => v1(callbackSecret)],
    ['key', 'under the callbackSecret', () => v2(callbackSecret)],
    ['key', 'text of the aesKey', () => v1(textKey)],
    ['key', 'text of the aesKey', () => rawGcm(createHmac('sha256', base64(aesKey)).update('svc_aes_v2').digest())],
    ['key', 'text of the aesKey', () => rawGcm(textKey)],
    ['key', 'aesKey itself: for svc_aes_v2', () => rawGcm(aesKey)],
    ['key', 'under the key of svc_aes_v2', () => v1(derived)],
    ['key', 'the tag is before', () => again(v2(), tagFirst)],
    ['key', 'the key or the bytes', () => v1(randomBytes(32))],
    ['key', 'the key or the bytes', () => v2(randomBytes(32))],
  ])('%s: %s', (cause, says, make) => {
    const value = make();
    expect(() => wire.decryptField(value, aesKey)).toThrow();
    const diagnosis = wire.diagnoseField(value, { aesKey, appSecret, callbackSecret });
    expect(diagnosis).toEqual({ cause, hint: expect.stringContaining(says) });
    const text = JSON.stringify(diagnosis);
    for (const secret of [TEXT, ...Object.values(secrets).map(base64)]) expect(text).not.toContain(secret);
  });

  it('key: a text that is not UTF-8', () => {
    const iv = randomBytes(12);
    const value = `svc_aes_v2:${base64(Buffer.concat([iv, platform.aes256GcmEncrypt(derived, iv, Buffer.of(0xd5, 0xc5))]))}`;
    expect(wire.diagnoseField(value, { aesKey }).hint).toContain('not UTF-8');
  });

  it('explains any value without quoting it', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('', 'svc_aes_v1:', 'svc_aes_v2:'), (text, prefix) => {
        const { cause } = wire.diagnoseField(prefix + text + randomUUID(), { aesKey, appSecret, callbackSecret });
        expect(['prefix', 'base64', 'length', 'key']).toContain(cause);
      }),
      { numRuns: 50 },
    );
  });
});
