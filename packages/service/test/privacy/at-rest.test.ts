import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Person, person } from '../agreements/support.js';
import { dump } from '../operator/support.js';
import { anotherChannel, type Stage, stage } from '../orders/support.js';
import { type CapturedLog, capturedLog } from '../support/captured-log.js';
import { type CallOptions, type ChannelClient, send } from '../support/channel-client.js';
import { encrypted, unique } from '../support/demo.js';

/**
 * Handles personal data in many ways, with unique values. Then each value is searched in every row of every table, in
 * the log at its most verbose level, in every answer, and in the metrics.
 */

let on: Stage;
let channel: ChannelClient;
let log: CapturedLog;
const answers: string[] = [];
/** The secret texts by their kind. */
const secrets = new Map<string, string>();

beforeAll(async () => {
  log = capturedLog();
  on = await stage({ log: log.log });
  channel = on.channel;
  await everything();
});
afterAll(() => on.close());

let serial = 0;
/** Creates a new user. None of the user's data may be found later. */
function somebody(): Person & { readonly sharedNo: string } {
  serial += 1;
  const who = { ...person(), sharedNo: unique('SHARED-NUMBER') };
  const { mobile, bankCardNo, certificateNo, realName, bankMobile, sharedNo } = who;
  const found = { mobile, bankCardNo, certificateNo, realName, bankMobile, sharedNo };
  for (const [what, value] of Object.entries(found)) secrets.set(`${what} ${serial}`, value);
  return who;
}
type Somebody = ReturnType<typeof somebody>;

async function call(name: string, body: object, code = '0', options: CallOptions = {}, by = channel) {
  const reply = await by.call(name, body, options);
  answers.push(reply.text);
  expect(reply.code, reply.text).toBe(code);
  return reply.data;
}

const card = (who: Somebody, by = channel) => ({
  bankCardNoEncrypted: encrypted(by, who.bankCardNo),
  certificateNoEncrypted: encrypted(by, who.certificateNo),
  realNameEncrypted: encrypted(by, who.realName),
  bankMobileEncrypted: encrypted(by, who.bankMobile),
});
const binding = (who: Somebody, more: object = {}) => ({
  channelUserId: who.channelUserId,
  mobileEncrypted: encrypted(channel, who.mobile),
  ...card(who),
  ...more,
});
const shared = (who: Somebody, by = channel) => ({
  paymentChannelCode: 'MOCKPAY',
  sharedAgreementNo: who.sharedNo,
  channelUserId: who.channelUserId,
  ...card(who, by),
});
const order = (who: Somebody, more: object = {}, by = channel) => ({
  settlementMode: 'SVC_DEDUCT',
  externalOrderNo: unique('order'),
  productCode: 'TEST_SPU_001',
  channelUserId: who.channelUserId,
  mobileEncrypted: encrypted(by, who.mobile),
  sharedAgreement: shared(who, by),
  ...more,
});
const collected = (who: Somebody, more: object = {}) =>
  order(who, { settlementMode: 'CHANNEL_COLLECT', sharedAgreement: undefined, ...more });

async function everything(): Promise<void> {
  await selfBinding();
  await failedBindings();
  await sharing();
  await collecting();
  await rejections();
  await faults();
}

async function selfBinding() {
  const who = somebody();
  const { bindOrderNo } = await call('agreements/bind-sms', binding(who), '0', { idempotencyKey: unique('key') });
  secrets.set('sms code', '73519046281');
  secrets.set('institution number of a binding', `inst-${bindOrderNo}`);
  const smsCodeEncrypted = encrypted(channel, '73519046281');
  await call('agreements/bind-confirm', { bindOrderNo, smsCodeEncrypted }, '0', { idempotencyKey: unique('key') });
  const bound = { channelUserId: undefined, sharedAgreement: undefined, bindOrderNo };
  await call('orders/create', order(who, { ...bound, mobileEncrypted: undefined }));
  const { orderNo } = await call('orders/create', order(who, bound), '0', { idempotencyKey: unique('key') });
  await call('orders/query', { orderNo });
  for (const filter of ['bankCardNoEncrypted', 'certificateNoEncrypted'] as const) {
    const data = await call('agreements/user-data', { [filter]: card(who)[filter] });
    expect(data.bankDataList).toHaveLength(1);
  }
  await call('orders/unsubscribe', { orderNo });
}

/** Makes bindings fail: by refusals, and by errors of an adapter that quote the adapter's input. */
async function failedBindings() {
  const [who, stranger] = [somebody(), somebody()];
  const { bindOrderNo } = await call('agreements/bind-sms', binding(who));
  secrets.set('wrong sms code', '846201357');
  const confirmation = { bindOrderNo, smsCodeEncrypted: encrypted(channel, '846201357') };
  on.institution.onConfirm = async () => ({ kind: 'wrong-code', reason: 'no' });
  await call('agreements/bind-confirm', confirmation);
  on.institution.onConfirm = async ({ smsCode }) => {
    throw new Error(`a bug that quotes "${smsCode}" and ${who.bankCardNo}`);
  };
  await call('agreements/bind-confirm', confirmation, '500001');
  on.institution.onSend = async () => ({ kind: 'not-sent', reason: 'no' });
  await call('agreements/bind-sms', binding(somebody()));
  on.institution.onSend = async ({ card: { realName, bankMobile } }) => {
    throw new Error(`a bug that quotes "${realName}" and ${bankMobile}`);
  };
  await call('agreements/bind-sms', binding(somebody()), '500001', { idempotencyKey: unique('key') });
  on.institution.reset();
  await call('agreements/bind-sms', binding(stranger, { mobileEncrypted: encrypted(channel, who.mobile) }), '410011');
  const bankCardNoEncrypted = encrypted(channel, `x${stranger.bankCardNo}`);
  await call('agreements/bind-sms', binding(stranger, { bankCardNoEncrypted }), '400001');
}

async function sharing() {
  const [who, next] = [somebody(), somebody()];
  const { orderNo } = await call('orders/create', order(who), '0', { idempotencyKey: unique('key') });
  const newSharedAgreement = { ...shared(next), channelUserId: who.channelUserId };
  await call('agreements/replace', { orderNo, newSharedAgreement }, '0', { idempotencyKey: unique('key') });
  await call('agreements/user-data', { channelUserId: who.channelUserId });
  await call('orders/list', { channelUserId: who.channelUserId });
  await call('payments/query', { paymentOrderNo: `${orderNo}0001` });
  await call('orders/unsubscribe', { orderNo, reason: 'enough' }, '0', { idempotencyKey: unique('key') });
  on.institution.onCancel = async ({ institutionNo }) => ({ kind: 'refused', reason: `no ${institutionNo.length}` });
  await on.cancelAgreements();

  on.institution.onDebit = async () => ({ kind: 'pending' });
  await call('orders/create', order(somebody()));
  await on.askPending();
  on.institution.onDebit = async () => ({ kind: 'declined', decline: 'agreement-invalid', reason: 'gone' });
  await call('orders/create', order(somebody()));
  on.institution.reset();
}

async function collecting() {
  const who = somebody();
  await call('orders/create', collected(who), '0', { idempotencyKey: unique('key') });
  await call('orders/list', { channelUserId: who.channelUserId });
}

async function rejections() {
  const holder = somebody();
  await call('orders/create', order(holder));
  // Shares an agreement number that another channel has, which raises an alert.
  const other = await anotherChannel(on.service);
  await call('orders/create', order(holder, {}, other), '403004', {}, other);
  const [known, stranger] = [somebody(), somebody()];
  const first = collected(known);
  await call('orders/create', first);
  const keyed = () => ({ idempotencyKey: unique('key') });
  await call('orders/create', order(stranger, { externalOrderNo: first.externalOrderNo }), '420002', keyed());
  await call(
    'orders/create',
    collected(stranger, { mobileEncrypted: encrypted(channel, known.mobile) }),
    '410011',
    keyed(),
  );
  const mismatch = { channelUserId: known.channelUserId, mobileEncrypted: encrypted(channel, stranger.mobile) };
  await call('orders/create', collected(stranger, mismatch), '410010', keyed());
  const refused = { ...shared(stranger), paymentChannelCode: 'MOCKBANK' };
  await call('orders/create', order(stranger, { sharedAgreement: refused }), '403004', keyed());
  // Sends plain text instead of a ciphertext, and the ciphertext of a text that is not a card number.
  for (const [field, value] of [
    ['bankCardNoEncrypted', stranger.bankCardNo],
    ['realNameEncrypted', stranger.realName],
    ['certificateNoEncrypted', stranger.certificateNo],
    ['bankMobileEncrypted', stranger.bankMobile],
  ] as const) {
    await call(
      'orders/create',
      order(stranger, { sharedAgreement: { ...shared(stranger), [field]: value } }),
      '400002',
    );
  }
  await call('orders/create', collected(stranger, { mobileEncrypted: stranger.mobile }), '400002');
  const noCard = encrypted(channel, `card ${stranger.bankCardNo}`);
  await call(
    'orders/create',
    order(stranger, { sharedAgreement: { ...shared(stranger), bankCardNoEncrypted: noCard } }),
    '400001',
  );
  const noMobile = encrypted(channel, `call ${stranger.mobile}`);
  await call('orders/create', collected(stranger, { mobileEncrypted: noMobile }), '400001');
  await call('agreements/replace', { orderNo: '1', newSharedAgreement: shared(stranger) }, '420001', keyed());
  // Sends a card number as `period`, which must be an integer. All other fields are valid.
  await call('orders/create', order(stranger, { period: stranger.bankCardNo }), '400001');
  await call('payments/query', { paymentOrderNo: stranger.bankCardNo }, '420001');
  await call('orders/query', { externalOrderNo: stranger.realName }, '420001');
  await call('orders/list', { channelUserId: stranger.realName });
}

async function faults() {
  const database = on.service.fresh.database;
  // A faulty gateway that quotes its input in an error.
  const quoting = somebody();
  on.institution.onDebit = async ({ institutionNo }) => {
    throw new Error(`a bug that quotes "${institutionNo}"`);
  };
  on.institution.onQuery = async () => {
    throw new Error(`a bug that quotes "${quoting.sharedNo}"`);
  };
  const { orderNo } = await call('orders/create', order(quoting));
  await on.askPending();
  on.institution.reset();
  await on.askPending();
  on.institution.onCancel = async ({ institutionNo }) => {
    throw new Error(`a bug that quotes "${institutionNo}"`);
  };
  await call('orders/unsubscribe', { orderNo });
  await on.cancelAgreements();
  on.institution.reset();
  on.institution.verifyNotice = () => {
    throw new Error(`a bug that quotes "${quoting.sharedNo}" and ${quoting.bankCardNo}`);
  };
  const news = { kind: 'debit', attemptNo: '1', outcome: { kind: 'unknown' } } as const;
  const notice = await on.notice(news);
  answers.push(notice.text);
  expect(notice.code).toBe('500001');

  // Makes the database refuse rows, which it quotes in its errors.
  for (const table of ['agreements', 'channel_users', 'debit_attempts', 'orders', 'idempotency']) {
    await database.query(`alter table ${table} add constraint broken check (false) not valid`);
    const who = somebody();
    await call('orders/create', order(who), '500001', { idempotencyKey: unique('key') });
    await database.query(`alter table ${table} drop constraint broken`);
  }
  const who = somebody();
  const created = await call('orders/create', order(who));
  await database.query('alter table agreements add constraint broken check (false) not valid');
  const newSharedAgreement = { ...shared(somebody()), channelUserId: who.channelUserId };
  await call('agreements/replace', { orderNo: created.orderNo, newSharedAgreement }, '500001');
  await call('orders/unsubscribe', { orderNo: created.orderNo }, '500001');
  await database.query('alter table agreements drop constraint broken');
  // Replaces an encrypted value by nonsense.
  await database.query(
    `update agreements set institution_no = 'nonsense', cancel_at = now() where agreement_no is not null`,
  );
  await on.cancelAgreements();
}

/**
 * Returns the encodings in which a secret may appear: plain, JSON, URL, hex and base64. The base64 of a secret inside a
 * longer text depends on its offset, so there are three base64 encodings.
 */
function spellings(text: string): string[] {
  const bytes = Buffer.from(text);
  const inside = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const last = Math.floor(((offset + bytes.length) * 8) / 6);
    return encoded.slice(Math.ceil((offset * 8) / 6), last);
  });
  return [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...inside,
    ...inside.map((encoded) => encoded.replaceAll('+', '-').replaceAll('/', '_')),
  ];
}
const hashes = (text: string) =>
  ['sha256', 'sha1', 'md5', 'sha512'].flatMap((algorithm) => {
    const digest = createHash(algorithm).update(text).digest();
    return [digest.toString('hex'), digest.toString('base64').replace(/=+$/, ''), digest.toString('base64url')];
  });

async function places(): Promise<Record<string, string>> {
  const metrics = await send(on.service.baseUrl, 'GET', '/metrics', {}, Buffer.alloc(0));
  return {
    tables: await dump(on.service.fresh.database),
    log: log.text(),
    answers: answers.join('\n'),
    metrics: metrics.text,
  };
}

it('the search finds what exists, because otherwise it would prove nothing', async () => {
  const { tables, log: lines, answers: texts, metrics } = await places();
  expect(tables).toContain('user-');
  expect(lines).toContain('/openapi/v1/orders/create');
  expect(lines).toContain('"level":"error"');
  expect(lines).toContain('a bug that quotes');
  expect(lines).toContain('cancelling an agreement failed');
  expect(texts).toContain('svc_aes_v1:');
  expect(metrics).toMatch(/orders\/create/);
  const text = '张三 6222';
  for (const spelling of spellings(text)) expect(spelling.length).toBeGreaterThan(4);
  for (const before of ['', 'x', 'xy', 'xyz']) {
    const hidden = Buffer.from(`${before}${text}and more`).toString('base64');
    expect(spellings(text).some((spelling) => hidden.includes(spelling))).toBe(true);
  }
});

it('no card, document, name, mobile, code or institution number is stored in clear, in hex or in base64', async () => {
  expect(secrets.size).toBeGreaterThan(80);
  for (const [place, text] of Object.entries(await places())) {
    const found = [...secrets].filter(([, value]) => spellings(value).some((spelling) => text.includes(spelling)));
    expect(
      found.map(([what]) => what),
      `in the ${place}`,
    ).toEqual([]);
  }
});

it('no redemption link can be reconstructed from the tables and the log', async () => {
  const given = answers.flatMap((text) => [...text.matchAll(/[?&]sig=([\w-]{43})/g)].map(([, sig = '']) => sig));
  expect(new Set(given).size).toBeGreaterThan(5);
  const { tables = '', log: lines = '' } = await places();
  expect(given.filter((sig) => tables.includes(sig) || lines.includes(sig))).toEqual([]);
  expect(tables + lines).not.toContain('sig=');
});

it('personal data is not indexed by a plain hash', async () => {
  const { tables } = await places().then(({ tables }) => ({ tables: tables ?? '' }));
  const found = [...secrets].filter(([, value]) =>
    [value, `mobile\n${value}`, `card\n${value}`].some((text) => hashes(text).some((hash) => tables.includes(hash))),
  );
  expect(found.map(([what]) => what)).toEqual([]);
});

it('the same card, document and mobile have different hashes in different channels', async () => {
  const who = somebody();
  const other = await anotherChannel(on.service);
  await call('orders/create', order(who));
  await call('orders/create', order({ ...who, sharedNo: unique('SHARED-NUMBER') }, {}, other), '0', {}, other);
  const [agreements, users] = await Promise.all([
    on.service.fresh.database.query<{ card: string; certificate: string }>(
      `select encode(card_hash, 'hex') as card, encode(certificate_hash, 'hex') as certificate
       from agreements where channel_user_id = $1`,
      [who.channelUserId],
    ),
    on.service.fresh.database.query<{ mobile: string }>(
      `select encode(mobile_hash, 'hex') as mobile from channel_users where channel_user_id = $1`,
      [who.channelUserId],
    ),
  ]);
  const all = [
    ...agreements.flatMap(({ card, certificate }) => [card, certificate]),
    ...users.map(({ mobile }) => mobile),
  ];
  expect(all).toHaveLength(6);
  expect(new Set(all).size).toBe(6);
});

it('only the last four digits of a card are stored', async () => {
  const rows = await on.service.fresh.database.query<{ card_tail: string }>('select card_tail from agreements');
  expect(rows.length).toBeGreaterThan(5);
  for (const { card_tail } of rows) expect(card_tail).toMatch(/^\d{4}$/);
  const { tables = '' } = await places();
  const cards = [...secrets].filter(([what]) => what.startsWith('bankCardNo'));
  for (const [, value] of cards) expect(tables).not.toContain(value.slice(-10));
});
