import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { FAULTS, type FaultName, type ReferenceProgram, startInstitution } from '@perennial/reference-peers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createBridgeGateway } from '../../src/gateways/bridge/bridge-gateway.js';
import { systemClock } from '../../src/platform/clock.js';
import { control, debitOf, KEY, ledgerOf } from '../institution/support.js';
import { freePort } from '../support/free-port.js';
import { type Checked, cardFile, checkBridge, restarter } from './support.js';

const RESULTS_MS = { settleMs: 50, lateNoticeMs: 0, noticeRetryMs: 1, longestNoticeRetryMs: 5, answerMs: 3_600_000 };

let folder: string;
let noticePort: number;
let institution: ReferenceProgram;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-check-bridge-'));
  noticePort = await freePort();
  institution = await start(await freePort());
});
afterAll(async () => {
  await institution.stop();
  await rm(folder, { recursive: true });
});

function start(port: number): Promise<ReferenceProgram> {
  return startInstitution({
    ...{ port, key: KEY, clock: systemClock, control: true, delays: RESULTS_MS, statementPageLines: 20 },
    dataDir: path.join(folder, 'institution'),
    noticeUrl: `http://127.0.0.1:${noticePort}/gateway/v1/notices/REFBANK`,
  });
}

/** Runs check-bridge. Also checks that it reports exactly the debits that the institution has not refunded in full. */
async function check(...args: readonly string[]): Promise<Checked> {
  const checked = await checkBridge(institution.url, '--wait', '5', ...args);
  const { debits } = await ledgerOf(institution);
  const kept = debits.filter((one) => one.attemptNo.startsWith(checked.prefix) && one.debitedCent > one.refundedCent);
  expect(checked.left.map(({ attemptNo }) => attemptNo).toSorted()).toEqual(
    kept.map((one) => one.attemptNo).toSorted(),
  );
  return checked;
}

it('the reference institution keeps every rule, including restart and notices', async () => {
  const gateway = createBridgeGateway({ url: institution.url, key: KEY, clock: systemClock });
  await gateway.debit(debitOf('first', '0025'));
  await gateway.close();
  const restart = await restarter(async () => {
    const { port } = new URL(institution.url);
    await institution.stop();
    institution = await start(Number(port));
  });
  const { code, broken, untried, left, rules } = await check(
    ...['--agreement', 'SHARED-8888', '--pending', 'SHARED-0004', '--foreign', 'SHARED-0025', '--strict'],
    ...['--declines', 'RETRYABLE=SHARED-0001', '--declines', 'FINAL=SHARED-0002'],
    ...['--declines', 'AGREEMENT_INVALID=SHARED-0003', '--listen', String(noticePort), '--amount', '3'],
    ...['--card-file', await cardFile(), '--sms-code', '123456', '--wrong-sms-code', '000000'],
    ...['--restart', restart],
  );
  const wrong = rules.filter(({ verdict }) => verdict !== 'holds');
  expect(wrong).toEqual([]);
  expect({ code, broken, untried, left }).toEqual({ code: 0, broken: [], untried: [], left: [] });
});

/** Faults that break a rule, with the rule. All other faults are legitimate and only prevent the test of some rules. */
const BREAKS: Readonly<Partial<Record<FaultName, readonly string[]>>> = {
  'answer-lost': ['answered'],
  'error-before': ['status-200'],
  'error-after': ['status-200'],
  'forged-notice': ['notice-signed'],
  'wrong-amount': ['debit-amount'],
  'wrong-debit': ['debit-asked'],
  'forged-answer': ['answer-signed'],
  'garbage-answer': ['answer-json'],
  'oversized-answer': ['answer-size'],
  'refund-wrong-amount': ['refund-amount'],
};

/** Faults that break no rule, with the option that check-bridge then reports as unused. */
const UNUSED: Readonly<Partial<Record<FaultName, string>>> = {
  'decline-retryable': '--agreement',
  'decline-final': '--agreement',
  'agreement-invalid': '--agreement',
  'cancel-refused': '--cancel-agreement',
};
/** Faults that keep debits from being refunded. */
const KEEPS: readonly FaultName[] = ['refund-refused', 'refund-pending-refused'];

/** Returns the command's options with the agreement number whose tail selects the fault. */
function givenFor(name: FaultName, tail: string): string[] {
  const number = `F-${tail}`;
  if (/^pending|notice$/.test(name)) return ['--pending', number, '--listen', String(noticePort)];
  if (name === 'cancel-refused') return ['--cancel-agreement', number];
  return ['--agreement', number];
}

// All faults except `delay`, because each delayed debit would wait for its deadline. A separate test below covers
// `delay`.
const TAILS = FAULTS.filter(({ name }) => name !== 'delay');

it.each(TAILS)('$name: breaks only its own rule, if it has one', async ({ name, tail }) => {
  const { code, broken, left, useless } = await check(...givenFor(name, tail));
  const expected = BREAKS[name] ?? [];
  expect(broken).toEqual(expected);
  expect(useless.map(({ option }) => option)).toEqual(name in UNUSED ? [UNUSED[name]] : []);
  expect(left.length > 0).toBe(KEEPS.includes(name));
  expect(code).toBe(expected.length === 0 && useless.length === 0 && left.length === 0 ? 0 : 1);
});

it('finds faults that are set for one request of an operation', async () => {
  const faults = [
    { fault: 'answer-lost', operation: 'refund', times: 1 },
    { fault: 'garbage-answer', operation: 'refund-query', times: 1 },
    { fault: 'error-after', operation: 'agreement-cancel', times: 1 },
    { fault: 'oversized-answer', operation: 'statement', times: 1 },
    { fault: 'forged-answer', operation: 'debit-query', times: 1 },
  ];
  for (const fault of faults) await control(institution, { action: 'set', ...fault });
  const { broken, rules } = await check('--agreement', 'SHARED-7777', '--cancel-agreement', 'SHARED-7778');
  await control(institution, { action: 'clear' });
  expect(broken).toEqual(['answer-json', 'answer-size', 'status-200', 'answer-signed', 'answered']);
  const seen = (rule: string) => rules.find((one) => one.rule === rule)?.why;
  expect(seen('answer-size')).toMatch(/^\/statement: more than 1048576 bytes/);
  expect(seen('answered')).toMatch(/^\/refund: /);
});

it('a late debit breaks the deadline rule and nothing else', async () => {
  await control(institution, { action: 'set', fault: 'delay', operation: 'debit', times: 1 });
  const { broken } = await check('--agreement', 'SHARED-7777', '--deadline', '1500');
  expect(broken).toEqual(['deadline']);
});
