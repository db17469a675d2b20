import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { KEY, temporaryFolder } from '../institution/support.js';
import { freePort } from '../support/free-port.js';
import { AGREEMENTS, BadBridge, SINS, type Sin } from './bad-bridge.js';
import { type Checked, checkBridge } from './support.js';

const UNCHECKED = [
  'signature-covers',
  'signature-headers',
  'signature-missing',
  'signature-whole',
  'signature-wrong',
  'timestamp-future',
  'timestamp-old',
];
const ONCE = [
  'debit-at-once',
  'debit-hang-up',
  'debit-other-agreement',
  'debit-other-amount',
  'debit-repeated',
  'replay',
];

type Breaks = Readonly<Partial<Record<Sin, readonly string[]>>>;

/**
 * The rules that each sin breaks: all of them, and no others. What stands together is tried in one run, since none of it hides
 * another.
 */
const RUNS: readonly Breaks[] = [
  {
    'takes what has no signature': ['signature-missing'],
    'compares the beginning of a signature': ['signature-whole'],
    'takes old timestamps': ['timestamp-old'],
    'takes future timestamps': ['timestamp-future'],
    'checks no header': ['signature-headers'],
    'signs refusals': ['refusal-unsigned'],
    'signs no 409': ['answer-signed'],
    'answers plain text': ['content-type'],
    'refuses unknown fields': ['request-unknown-fields'],
    'fails at what is no JSON': ['request-not-json'],
    'debits half a body': ['request-cut-off'],
    'takes any size': ['request-too-large'],
    'takes any amount': ['request-amounts'],
    'takes any currency': ['currency-other'],
    'takes numbers of 32 characters': ['request-longest'],
    'ignores Idempotency-Key': ['idempotency-key'],
    'needs an appId': ['without-app-id'],
    'gives seconds': ['answer-times'],
    'sends a notice once': ['notice-again'],
  },
  {
    'answers another amount as it stands': ['debit-other-agreement', 'debit-other-amount'],
    'debits twice at once': ['debit-at-once'],
    'debits replays': ['replay'],
    'declines everything as FINAL': ['cancel-debit', 'decline-agreement-invalid', 'decline-retryable'],
    'debits for any channel': ['foreign-agreement'],
    'declines on timeouts': ['result-stays'],
    'refunds too much': ['refund-too-much'],
    'adds up no refunds': ['refund-at-once', 'refund-in-sum'],
    'refunds what it has not debited': ['refund-unknown-debit'],
    'does not know what it has refunded': ['refund-query-known'],
    'cancels once': ['cancel'],
    'sends one code': ['bind-code'],
    'repeats a line': ['statement-once'],
  },
  {
    'takes 16 KB': ['request-largest'],
    'reads the first piece of a body': ['request-in-pieces'],
    'has a clock that is two minutes ahead': ['timestamp-future', 'timestamp-within'],
    'debits another amount, and says 409': ['debit-other-agreement', 'debit-other-amount'],
    'refunds at once without a lock': ['refund-at-once'],
    'declines when the caller has left': ['debit-hang-up'],
    'answers 404 to questions about unknown refunds': ['refund-query-unknown'],
    'debits canceled agreements': ['cancel-debit'],
    'ends a binding at a wrong code': ['bind-confirm', 'bind-wrong-code'],
    'leaves refunds out of the statement': ['statement-complete'],
    'cuts the day elsewhere': ['statement-day'],
    'says something else in the notice': ['notice-sent'],
  },
  {
    'changes its mind': ['result-stays'],
    'answers 404 to questions about unknown numbers': ['debit-query-unknown'],
    'refunds twice': ['refund-other-amount', 'refund-repeated'],
    'binds anew each time': ['bind-repeated'],
  },
  {
    'forgets what is pending': ['debit-query-known', 'pending'],
    'binds nothing': ['bind-confirm', 'bind-wrong-code'],
    'has lines without a time': ['statement-lines'],
  },
  { 'sends the same notice bytes again': ['notice-again'] },
  { 'signs no notice': ['notice-sent', 'notice-signed'] },
  { 'sends no notice': ['notice-sent'], 'has pages without an end': ['statement-pages'] },
  { 'knows no number again': ONCE },
  { 'does not know what it has debited': ['debit-query-known', 'pending'] },
  { 'forgets at a restart': ['restart'] },
  { 'checks no signature': UNCHECKED },
  { 'signs no answer': ['answer-signed'] },
  { 'signs without the nonce': ['answer-signed'] },
  { 'refuses every key': ['signature-taken'] },
  { 'answers compressed': ['answer-json'] },
  { 'leaves the attemptNo out': ['answer-number'] },
  { 'has words of its own': ['answer-status'] },
  { 'has no institutionRef': ['answer-fields'] },
];

const CARD = { bankCardNo: '6222', certificateNo: '1', certType: 'ID_CARD', realName: 'Li', bankMobile: '138' };

function checkSinful(...sins: readonly Sin[]): Promise<Checked> {
  const bridge = new BadBridge(KEY);
  for (const sin of sins) bridge.sins.add(sin);
  return check(bridge);
}

/** Everything that can be given is. */
async function check(bridge: BadBridge, ...more: readonly string[]): Promise<Checked> {
  const { sins } = bridge;
  await bridge.start();
  try {
    const port = await freePort();
    bridge.noticeUrl = `http://127.0.0.1:${port}/gateway/v1/notices/BAD`;
    const { good, retryable, final, ended, pending, foreign, cancelable } = AGREEMENTS;
    return await checkBridge(
      bridge.url,
      ...['--agreement', good, '--pending', pending, '--foreign', foreign, '--cancel-agreement', cancelable],
      ...['--declines', `RETRYABLE=${retryable}`, '--declines', `FINAL=${final}`],
      ...['--declines', `AGREEMENT_INVALID=${ended}`, '--listen', String(port)],
      ...['--card-file', await cardFile(), '--sms-code', '123456', '--wrong-sms-code', '000000'],
      // Only a notice that never comes is waited for so long.
      ...['--wait', '3', ...more],
      // A process of its own for each would take longer than all the rest.
      ...(sins.size === 0 || sins.has('forgets at a restart') ? ['--restart', restartOf(bridge)] : []),
    );
  } finally {
    await bridge.stop();
  }
}

async function cardFile(): Promise<string> {
  const file = path.join(await temporaryFolder(), 'card.json');
  await writeFile(file, JSON.stringify({ ...CARD, bankCode: 'ICBC' }));
  return file;
}

const restartOf = ({ url }: BadBridge): string =>
  `"${process.execPath}" -e "fetch('${new URL('/restart', url)}', { method: 'POST' })"`;

it('a bridge without a sin keeps every rule, and nothing is left', async () => {
  const { code, broken, untried, left, rules } = await checkSinful();
  expect({ code, broken, untried, left }).toEqual({ code: 0, broken: [], untried: [], left: [] });
  expect(rules.length).toBeGreaterThan(60);
});

it('so does one that answers PENDING first, whatever becomes of it', async () => {
  const bridge = new BadBridge(KEY);
  bridge.answersLater = true;
  const { code, left, rules } = await check(bridge);
  expect(rules.filter(({ verdict }) => verdict !== 'holds')).toEqual([]);
  expect({ code, left }).toEqual({ code: 0, left: [] });
});

it('a bridge with another currency is not tried further, and nothing is debited', async () => {
  const bridge = new BadBridge(KEY);
  bridge.currency = 'EUR';
  const { code, broken, rules, left } = await check(bridge);
  expect({ code, broken, left }).toEqual({ code: 1, broken: ['currency-same'], left: [] });
  expect(rules.find(({ rule }) => rule === 'currency-same')?.why).toBe('the bridge has EUR, and --currency is CNY');
  expect(rules.find(({ rule }) => rule === 'debit-repeated')).toMatchObject({
    ...{ verdict: 'untried', why: 'the bridge has another currency' },
  });
  expect(await check(bridge, '--currency', 'eur')).toMatchObject({ code: 0, broken: [], untried: [] });
});

it('a bridge from before currencies counts as CNY', async () => {
  const bridge = new BadBridge(KEY);
  bridge.isOlder = true;
  const checked = await check(bridge);
  expect(checked).toMatchObject({ code: 0, broken: [], untried: ['currency-same', 'currency-other'] });
  const inEuro = await check(bridge, '--currency', 'EUR');
  expect(inEuro).toMatchObject({ code: 1, broken: ['currency-same'], left: [] });
});

it('every sin is tried', () => {
  expect(RUNS.flatMap((run) => Object.keys(run)).toSorted()).toEqual(SINS.toSorted());
});

it.each(RUNS.map((run) => ({ names: Object.keys(run).join('; '), run })))('$names', async ({ run }) => {
  const { code, broken, untried, left } = await checkSinful(...(Object.keys(run) as Sin[]));
  expect(broken.toSorted()).toEqual(Object.values(run).flat().toSorted());
  expect(code).toBe(1);
  // The question was answered, whatever becomes of the notice.
  if ('sends no notice' in run) expect(untried).not.toContain('pending');
  // What had no answer that can be used may have been debited.
  if ('signs no answer' in run) expect(left[0]).toMatchObject({ why: 'nobody knows what became of it' });
});
