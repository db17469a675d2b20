import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CRASH_POINTS } from '@perennial/bridge-kit';
import type { LineMessage } from '@perennial/wire/bridge';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import {
  type Answered,
  ask,
  debitOf,
  KEY,
  NoticeTaker,
  TestClock,
  until,
} from '../../bridge-kit/test/support/world.js';
import { freePort } from '../../service/test/support/free-port.js';
import { type FakePayment, type FakeStripe, startFakeStripe } from './fake-stripe.js';
import { type BridgeProcess, startBridgeProcess } from './support/bridge-process.js';

const PERENNIAL = fileURLToPath(new URL('../../service/bin/perennial.js', import.meta.url));
const KILLS = CRASH_POINTS.filter((point) => point !== 'notice-sent');

let fake: FakeStripe;
let taker: NoticeTaker;
let bridge: BridgeProcess;
let database: pg.Pool;
const schema = `stripe_${randomBytes(6).toString('hex')}`;

beforeAll(async () => {
  fake = await startFakeStripe();
  taker = new NoticeTaker(new TestClock());
  await taker.start();
  database = new pg.Pool({ connectionString: inject('bookUrl'), max: 1 });
  bridge = await start(taker.url);
});
afterAll(async () => {
  await bridge?.stop();
  await taker.stop();
  await fake.stop();
  await database.query(`drop schema if exists ${schema} cascade`);
  await database.end();
});

async function start(noticeUrl: string, settings: Record<string, string> = {}): Promise<BridgeProcess> {
  const port = await freePort();
  return startBridgeProcess({ fake, databaseUrl: inject('bookUrl'), schema, port, noticeUrl, settings });
}

/** Acts like the service: queries until there is a result, and resends only after NOT_FOUND. */
async function settle(operation: 'debit' | 'refund', body: object): Promise<Answered['fields']> {
  let [next, settled] = [operation as string, {} as Answered['fields']];
  await until(`a result of ${JSON.stringify(body)}`, async () => {
    const answered = await ask(bridge.url, next, body).catch(() => undefined);
    const status = answered?.http === 200 ? answered.fields['status'] : undefined;
    next = status === 'NOT_FOUND' ? operation : `${operation}-query`;
    if (answered === undefined || status === undefined || status === 'PENDING' || status === 'NOT_FOUND') return false;
    settled = answered.fields;
    return true;
  });
  return settled;
}

async function deliver(events: readonly { readonly body: string }[]): Promise<void> {
  for (const { body } of events) {
    await until('the webhook is taken', async () => {
      const response = await fetch(`${bridge.url}/webhooks`, { method: 'POST', headers: fake.sign(body), body }).catch(
        () => undefined,
      );
      return response?.status === 200;
    });
  }
}

const paymentsOf = (attemptNo: string) =>
  fake.payments.filter(({ metadata }) => metadata['perennial_attempt_no'] === attemptNo);
const refundsOf = (refundNo: string) =>
  fake.refunds.filter(({ metadata }) => metadata['perennial_refund_no'] === refundNo);

function onlyPaymentOf(attemptNo: string): FakePayment {
  const [payment, ...more] = paymentsOf(attemptNo);
  if (payment === undefined || more.length > 0) throw new Error(`${attemptNo}: ${more.length + 1} payments or none`);
  return payment;
}

/** Reads the statement of every day that has bookings: during the test the day may change in Shanghai. */
async function readStatements(): Promise<readonly LineMessage[]> {
  const dayOf = (seconds: number) => new Date(seconds * 1000 + 8 * 3_600_000).toISOString().slice(0, 10);
  const lines: LineMessage[] = [];
  for (const day of new Set([...fake.payments, ...fake.refunds].map(({ created }) => dayOf(created)))) {
    for (let cursor: unknown = null; cursor !== undefined; ) {
      const { fields } = await ask(bridge.url, 'statement', { day, cursor });
      lines.push(...(fields['lines'] as LineMessage[]));
      cursor = fields['nextCursor'] ?? undefined;
    }
  }
  return lines;
}

describe('the bridge to Stripe', () => {
  it('killed at every point pays once, refunds once, and its statement agrees to the cent', async () => {
    const agreement = fake.attach('pm_card_visa');
    const declining = fake.attach('pm_card_visa_chargeDeclinedInsufficientFunds');
    const debits = [
      ...KILLS.map((point) => debitOf(`D-${point}`, { institutionNo: agreement, amountCent: 1000 + point.length })),
      debitOf('L-institution-called', { institutionNo: agreement, amountCent: 2001 }),
      debitOf('N-institution-called', { institutionNo: declining }),
    ];
    for (const debit of debits) {
      // For these debits, the fake Stripe also loses its answer.
      if (debit.attemptNo.startsWith('L-')) fake.fail('/v1/payment_intents', 'lost-answer');
      const result = await settle('debit', debit);
      const payment = onlyPaymentOf(debit.attemptNo);
      if (debit.attemptNo.startsWith('N-')) {
        expect(result).toMatchObject({ status: 'DECLINED', decline: 'RETRYABLE' });
        expect(payment.status).toBe('requires_payment_method');
        continue;
      }
      expect(result).toMatchObject({ status: 'SUCCESS', amountCent: payment.amount, institutionRef: payment.id });
      expect(payment.amount).toBe(debit.amountCent);
    }
    for (const point of KILLS) {
      const refund = { appId: 'test', refundNo: `R-${point}`, attemptNo: `D-${point}`, amountCent: 300 + point.length };
      const given = await settle('refund', refund);
      expect(given).toMatchObject({ status: 'SUCCESS', amountCent: refund.amountCent });
      expect(refundsOf(refund.refundNo)).toMatchObject([{ amount: refund.amountCent, status: 'succeeded' }]);
    }
    expect(bridge.starts()).toBeGreaterThan(debits.length);

    const lines = await readStatements();
    const booked = fake.payments.filter(({ status }) => status === 'succeeded');
    const lineOf = (number: string | undefined) => lines.filter((line) => line.number === number);
    for (const { metadata, amount, id } of booked) {
      const expected = { kind: 'DEBIT', amountCent: amount, status: 'SUCCESS', institutionRef: id };
      expect(lineOf(metadata['perennial_attempt_no'])).toMatchObject([expected]);
    }
    for (const { metadata, amount, id } of fake.refunds) {
      const expected = { kind: 'REFUND', amountCent: amount, status: 'SUCCESS', institutionRef: id };
      expect(lineOf(metadata['perennial_refund_no'])).toMatchObject([expected]);
    }
    expect(lines).toHaveLength(booked.length + fake.refunds.length);
  }, 180_000);

  it('killed with late results reports each of them, from events in any order', async () => {
    const agreement = fake.attach('pm_usBankAccount_processing');
    const before = fake.events.length;
    const numbers = ['W-result-written', 'W-paid', 'W-declined'];
    for (const attemptNo of numbers) {
      const debit = debitOf(attemptNo, { institutionNo: agreement });
      await until('it is passed on', async () => {
        await ask(bridge.url, 'debit', debit).catch(() => undefined);
        return paymentsOf(attemptNo).length > 0;
      });
      fake.settle(onlyPaymentOf(attemptNo), attemptNo === 'W-declined' ? { code: 'insufficient_funds' } : undefined);
    }
    const events = fake.events.slice(before);
    await deliver([...events, ...events].toReversed());
    const noticeOf = (attemptNo: string) => taker.taken.filter((notice) => notice['attemptNo'] === attemptNo);
    await until('every notice is taken', () => numbers.every((attemptNo) => noticeOf(attemptNo).length > 0));
    for (const attemptNo of numbers) {
      const result = await settle('debit', debitOf(attemptNo, { institutionNo: agreement }));
      const status = attemptNo === 'W-declined' ? 'DECLINED' : 'SUCCESS';
      expect(onlyPaymentOf(attemptNo).status).toBe(status === 'SUCCESS' ? 'succeeded' : 'requires_payment_method');
      expect(noticeOf(attemptNo)[0]).toMatchObject({ ...result, status, kind: 'DEBIT' });
      expect(new Set(noticeOf(attemptNo).map((notice) => notice['noticeNo'])).size).toBe(1);
    }
    const noticeNos = taker.taken.map((notice) => notice['noticeNo']);
    expect(new Set(noticeNos).size, 'the notice of the crash came again').toBeLessThan(noticeNos.length);
    expect(taker.statuses).not.toContain(401);
  });

  it('that has lost its book finds what it paid', async () => {
    const agreement = fake.attach('pm_card_visa');
    const paid = debitOf('B-1', { institutionNo: agreement });
    await settle('debit', paid);
    const refund = { appId: 'test', refundNo: 'BR-1', attemptNo: 'B-1', amountCent: 5 };
    await settle('refund', refund);
    await database.query(`truncate ${schema}.debits, ${schema}.refunds`);
    const known = { status: 'SUCCESS', institutionRef: onlyPaymentOf('B-1').id };
    const { institutionNo: _, ...question } = paid;
    expect((await ask(bridge.url, 'debit-query', question)).fields).toMatchObject(known);
    expect((await ask(bridge.url, 'refund-query', refund)).fields).toMatchObject({ status: 'SUCCESS', amountCent: 5 });
    await database.query(`truncate ${schema}.debits, ${schema}.refunds`);
    expect(await settle('refund', refund)).toMatchObject({ status: 'SUCCESS' });
    expect(await settle('debit', paid)).toMatchObject(known);
    await database.query(`truncate ${schema}.debits, ${schema}.refunds`);
    expect(await settle('debit', paid)).toMatchObject(known);
    expect(paymentsOf('B-1')).toHaveLength(1);
    expect(refundsOf('BR-1')).toHaveLength(1);
  });

  it('logs no secrets', () => {
    for (const secret of [fake.secretKey, fake.webhookSecret, KEY.toString('base64')]) {
      expect(bridge.log()).not.toContain(secret);
    }
    expect(bridge.log()).toContain('"msg":"request"');
  });
});

it('perennial check-bridge finds no violation by the bridge to Stripe', async () => {
  const port = await freePort();
  await bridge.stop();
  bridge = await start(`http://127.0.0.1:${port}/gateway/v1/notices/STRIPE`, { KILLS_DIR: '' });
  const pending = fake.attach('pm_usBankAccount_processing');
  const given = [
    ...['--amount', '400', '--agreement', fake.attach('pm_card_visa'), '--pending', pending, '--listen', String(port)],
    ...['--declines', `RETRYABLE=${fake.attach('pm_card_visa_chargeDeclinedInsufficientFunds')}`],
    ...['--declines', `FINAL=${fake.attach('pm_card_authenticationRequired')}`],
    ...['--declines', `AGREEMENT_INVALID=${fake.attach('pm_card_visa_chargeDeclinedLostCard')}`],
    ...['--cancel-agreement', fake.attach('pm_card_visa')],
    ...[
      '--restart',
      `old=$(cat ${bridge.pidFile}); kill -9 $old; while [ "$(cat ${bridge.pidFile})" = $old ]; do sleep 0.1; done`,
    ],
  ];
  const env = { PATH: process.env['PATH'], BRIDGE_KEY: KEY.toString('base64') };
  const run = promisify(execFile)(process.execPath, [PERENNIAL, 'check-bridge', bridge.url, '--json', ...given], {
    env,
  });
  await until('the pending debit is there', () => fake.payments.some(({ status }) => status === 'processing'));
  const before = fake.events.length;
  const waiting = fake.payments.find(({ status }) => status === 'processing');
  if (waiting !== undefined) fake.settle(waiting);
  await deliver(fake.events.slice(before));
  const { stdout } = await run.catch((failed: { readonly stdout: string }) => failed);
  const { rules, left } = JSON.parse(stdout) as {
    rules: { rule: string; verdict: string; why?: string }[];
    left: object[];
  };
  expect(rules.filter(({ verdict }) => verdict === 'broken')).toEqual([]);
  expect(left).toEqual([]);
  const untried = rules.filter(({ verdict }) => verdict === 'untried').map(({ rule }) => rule);
  expect(untried.filter((rule) => !rule.startsWith('bind-'))).toEqual(['foreign-agreement']);
  expect(rules.filter(({ verdict }) => verdict === 'holds').length).toBeGreaterThan(50);
});
