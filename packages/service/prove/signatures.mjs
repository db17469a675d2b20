// npm run prove -- signatures [COUNT] [SEED]: diagnoses random requests with one, two or no mistakes in the signature,
// and counts how often the diagnosis is right. Fails if the diagnosis of a request with one mistake or none is wrong.
import { createHash, createHmac } from 'node:crypto';
import { diagnoseRequest, MAX_DIAGNOSIS_TRIES, MISTAKES } from '@perennial/wire';

const [given = '20000', seed = String(Date.now())] = process.argv.slice(2);
const count = given === '--short' ? 2_000 : Number(given);
const say = (line) => process.stdout.write(`${line}\n`);

let drawn = 0;
/** Returns pseudo-random bytes, which depend only on the seed and the number of earlier calls. */
const bytes = (length) => createHash('sha512').update(`${seed} ${drawn++}`).digest().subarray(0, length);
const below = (limit) => bytes(4).readUInt32BE() % limit;
const pick = (list) => list[below(list.length)];
const sha256 = (text) => createHash('sha256').update(text).digest('hex');

const WORDS = ['a', 'Zoë', 'svc_aes_v2:ab+/c=', '<b>&', "it's", '', '包月', '"quoted"', 'x/y'];
const value = (depth = 0) =>
  pick([
    () => pick(WORDS),
    () => below(1_000),
    () => null,
    () => true,
    () => (depth > 2 ? 'leaf' : Array.from({ length: below(4) }, () => value(depth + 1))),
    () => (depth > 2 ? 'leaf' : object(depth + 1)),
  ])();
const object = (depth) =>
  Object.fromEntries(Array.from({ length: 1 + below(5) }, () => [`f${below(50)}`, value(depth)]));

const line = (at, change) => (to) => {
  to.lines[at] = change(to.lines[at], to);
};
const order =
  (...indexes) =>
  (to) => {
    to.lines = indexes.map((at) => to.lines[at]);
  };
const respell = (write) => line(3, (_, { sent }) => sha256(write(JSON.parse(sent.body))));
const sorted = (one) =>
  Array.isArray(one)
    ? one.map(sorted)
    : typeof one === 'object' && one !== null
      ? Object.fromEntries(
          Object.keys(one)
            .sort()
            .map((key) => [key, sorted(one[key])]),
        )
      : one;
const key = (name) => (to) => {
  to.key = to.secrets[name];
};

/**
 * For each mistake, the ways in which programs make it. A request with two mistakes gets them in the order of this
 * list, so that moved lines come last.
 */
const MAKERS = {
  'secret-of-callback': [key('callbackSecret')],
  'secret-of-encryption': [key('aesKey')],
  'secret-before-reset': [key('formerAppSecret')],
  'secret-not-decoded': [(to) => (to.key = to.key.toString('base64'))],
  'hmac-missing': [
    (to) => (to.mac = ({ text }) => hash(text)),
    (to) => (to.mac = ({ text, key: by }) => hash(text, by)),
  ],
  'hmac-swapped': [(to) => (to.mac = ({ text, key: by }) => createHmac('sha256', text).update(by).digest())],
  'signature-hex': [(to) => (to.encode = (mac) => mac.toString('hex'))],
  'signature-base64url': [
    (to) => (to.encode = (mac) => mac.toString('base64url')),
    (to) => (to.encode = (mac) => `"${mac.toString('base64')}"`),
  ],
  'signature-base64-of-hex': [(to) => (to.encode = (mac) => btoa(mac.toString('hex')))],
  'body-serialised-again': [
    respell((body) => JSON.stringify(body, null, pick([2, 4, '\t']))),
    respell((body) => JSON.stringify(sorted(body))),
    respell((body) => JSON.stringify(body).replaceAll('/', '\\/')),
    respell((body) => `${JSON.stringify(body)}\n`),
  ],
  'body-not-hashed': [line(3, (_, { sent }) => sent.body), line(3, () => sha256(''))],
  'digest-upper-case': [line(3, (digest) => digest.toUpperCase())],
  crlf: [(to) => (to.join = '\r\n'), (to) => (to.join = '\\n')],
  'trailing-newline': [(to) => (to.end = '\n')],
  'path-with-host': [line(1, (path) => `https://pay.example${path}`), line(1, (path) => `localhost:8080${path}`)],
  'path-without-prefix': [line(1, (path) => path.replace('/openapi/v1', '')), line(1, (path) => path.slice(1))],
  'path-with-slash': [line(1, (path) => `${path}/`), line(1, (path) => `${path}?`)],
  'timestamp-in-seconds': [line(4, (ms) => ms.slice(0, -3)), line(4, (ms) => `${ms.slice(0, -3)}000`)],
  'other-timestamp': [line(4, (ms) => String(otherTime(Number(ms))))],
  'other-nonce': [line(5, (_, { earlier }) => pick(earlier).nonce), line(5, (nonce) => nonce.toUpperCase())],
  'other-request-id': [line(6, (_, { earlier }) => pick(earlier).requestId), line(6, () => '')],
  'lines-in-other-order': [
    order(1, 0, 2, 3, 4, 5, 6),
    order(0, 1, 2, 4, 5, 6, 3),
    order(0, 1, 2, 3, 4, 6, 5),
    line(0, () => pick(['GET', 'PUT', 'post', 'Post'])),
  ],
  'empty-line-missing': [order(0, 1, 3, 4, 5, 6), line(2, () => '?')],
};
const names = Object.keys(MAKERS);
const missing = MISTAKES.filter(({ mistake }) => mistake !== 'unknown' && !names.includes(mistake));
if (missing.length > 0) throw new Error(`no way to make: ${missing.map(({ mistake }) => mistake)}`);

/** Another time than the sent one, but no whole second, which is the result of a clock of seconds too. */
function otherTime(ms) {
  const times = [-1_000, -100, -2, 1, 30, 1_000].map((offset) => ms + offset);
  return pick(times.filter((time) => time % 1_000 !== 0));
}

/** A request can have only one mistake of each group. */
const GROUPS = [/^(secret-(of|before)|hmac)-?/, /^signature-/, /^(body|digest)-/, /^path-/, /^(lines|empty)-/];
const areApart = (a, b) => a !== b && !GROUPS.some((group) => group.test(a) && group.test(b));

const headers = () => ({
  timestamp: String(1_767_225_600_000 + below(1e9)),
  nonce: bytes(16).toString('hex'),
  requestId: bytes(8).toString('base64url'),
});
const hash = (...parts) => parts.reduce((hashed, part) => hashed.update(part), createHash('sha256')).digest();
const sign = ({ lines, join, end, key: by, encode, mac }) => encode(mac({ text: lines.join(join) + end, key: by }));

/**
 * Makes a request with these mistakes, and returns the mistakes that the diagnosis names. Returns undefined if a
 * mistake leaves the request as it was: for example, a nonce without letters is the same in upper case.
 */
function make(mistakes) {
  const secretNames = ['appSecret', 'callbackSecret', 'aesKey', 'formerAppSecret'];
  const secrets = Object.fromEntries(secretNames.map((name) => [name, bytes(32)]));
  const sent = {
    path: `/openapi/v1/${pick(['orders/create', 'auth/token', 'products/list'])}`,
    query: '',
    body: JSON.stringify(object(0)),
    ...headers(),
  };
  const right = {
    ...{ sent, secrets, earlier: Array.from({ length: 16 }, headers), key: secrets.appSecret, join: '\n', end: '' },
    lines: ['POST', sent.path, sent.query, sha256(sent.body), sent.timestamp, sent.nonce, sent.requestId],
    encode: (mac) => mac.toString('base64'),
    mac: ({ text, key: by }) => createHmac('sha256', by).update(text).digest(),
  };
  const wrong = { ...right, lines: [...right.lines] };
  for (const mistake of mistakes.toSorted((a, b) => names.indexOf(a) - names.indexOf(b))) {
    const before = sign(wrong);
    pick(MAKERS[mistake])(wrong);
    if (sign(wrong) === before) return undefined;
  }
  const came = { ...sent, body: Buffer.from(sent.body), signature: sign(wrong), host: 'localhost:8080' };
  const context = { earlier: right.earlier, publicUrl: 'https://pay.example' };
  return diagnoseRequest(came, secrets, context).likely.map(({ mistake }) => mistake);
}

const alone = new Map(names.map((name) => [name, { made: 0, named: 0 }]));
const pairs = { made: 0, named: 0, unknown: 0 };
const none = { made: 0, named: 0 };
const failures = [];
const began = process.cpuUsage();
for (let n = 0; n < count; n += 1) {
  const mistakes = n % 20 === 0 ? [] : n % 2 === 0 ? [pick(names)] : [pick(names), pick(names)];
  const found = mistakes.length === 2 && !areApart(...mistakes) ? undefined : make(mistakes);
  if (found === undefined) continue;
  const isRight = found.toSorted().join() === mistakes.toSorted().join();
  const figures = mistakes.length === 0 ? none : mistakes.length === 1 ? alone.get(mistakes[0]) : pairs;
  figures.made += 1;
  if (isRight) figures.named += 1;
  else if (mistakes.length < 2) failures.push(`${n}: ${mistakes.join() || 'none'} was named ${found.join() || 'none'}`);
  else if (found[0] === 'unknown') pairs.unknown += 1;
}
const { user, system } = process.cpuUsage(began);

say(`seed ${seed}, ${MAX_DIAGNOSIS_TRIES} HMACs at most for each`);
for (const [name, { made, named }] of alone) say(`${name.padEnd(26)} ${named} of ${made}`);
say(`${'none'.padEnd(26)} ${none.named} of ${none.made}`);
say(`${'two together'.padEnd(26)} ${pairs.named} of ${pairs.made}, unknown ${pairs.unknown}`);
say(`${((user + system) / count).toFixed(0)} us of CPU for each request, with making it`);
for (const failure of failures.slice(0, 20)) say(`failed: ${failure}`);
process.exitCode = failures.length === 0 ? 0 : 1;
