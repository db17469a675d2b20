import { expect, it } from 'vitest';
import { debitOf, questionOf, startWorld, until } from './support/world.js';

const DAY = 86_400_000;
const LONG = 'without a result for more than a day';

it('old ended records are deleted, open and owed ones are not, and nothing deleted is paid again', async () => {
  const world = await startWorld({ keepDays: 100 });
  const { institution, clock, taker, query, schema, ask, tell } = world;
  const word = async (operation: string, body: object) => (await ask(operation, body)).fields['status'];
  const numbers = async (table: string) =>
    (await query(`select number from ${schema}.${table} order by number`)).map(({ number }) => number);
  const refund = (refundNo: string, attemptNo: string) => ({ refundNo, attemptNo, amountCent: 1 });
  // More rows than are deleted at once.
  await query(
    `insert into ${schema}.debits (number, state, result, begun_at, holder, in_hand_until, ask_at)
     select 'X' || n, 'SETTLED', '{"status": "DECLINED"}', ${clock.now()}, '', 0, 0 from generate_series(1, 450) as n`,
  );
  const paid = debitOf('PAID');
  const poor = debitOf('POOR', { institutionNo: 'POOR' });
  const ended = (attemptNo: string) => {
    const outcome = institution.paid(attemptNo, 1990);
    institution.settle(attemptNo, outcome);
    return { about: 'debit', attemptNo, outcome };
  };
  // A debit that began in the future, because the service's clock is ahead.
  const ahead = debitOf('AHEAD', { startedAt: Date.now() + 2 * DAY });
  for (const debit of [paid, poor, ahead, debitOf('BACK'), debitOf('BACK-LATE')]) await ask('debit', debit);
  for (const attemptNo of ['OPEN', 'TAKEN', 'OWED']) await ask('debit', debitOf(attemptNo, { institutionNo: 'SLOW' }));
  await ask('refund', refund('R-PAID', 'PAID'));
  await ask('refund', refund('R-BACK', 'BACK'));
  await ask('refund', refund('R-LATE-1', 'BACK-LATE'));
  await ask('refund', refund('R-NEVER', 'NEVER'));
  await tell([ended('TAKEN')]);
  await until('the notice', () => taker.taken.length === 1);
  taker.answers = Array.from({ length: 1_000 }, () => 503);
  await tell([ended('OWED')]);

  const metrics = async () => (await fetch(`${world.bridge.monitoringUrl}/metrics`)).text();
  clock.ahead = DAY - 60_000;
  await until('the upkeep', async () => (await query(`select from ${schema}.debits where asked > 0`)).length > 0);
  expect(await metrics()).toContain('bridge_open_long{about="debits"} 0');
  clock.ahead = DAY + 3_700_000;
  await until('the line', () => world.log().includes(LONG));
  expect(world.log()).toContain('"open":1,"about":"OPEN"');
  const figures = await metrics();
  expect(figures).toContain('bridge_open_long{about="debits"} 1');
  expect(Number(/^bridge_open_oldest_seconds{about="debits"} (\S+)/m.exec(figures)?.[1])).toBeGreaterThan(86_400);
  expect(Number(/^bridge_notices_oldest_seconds (\S+)/m.exec(figures)?.[1])).toBeGreaterThan(86_400);
  expect(figures).toContain('bridge_open_long{about="refunds"} 0');

  clock.ahead = 50 * DAY;
  await ask('refund', refund('R-LATE-2', 'BACK-LATE'));
  await ask('debit', debitOf('YOUNG', { startedAt: clock.now() }));
  expect(await numbers('refunds')).toHaveLength(5);
  clock.ahead = 101 * DAY;
  await until('the deletion', async () => (await numbers('debits')).length <= 5);
  expect(await numbers('debits')).toEqual(['AHEAD', 'BACK-LATE', 'OPEN', 'OWED', 'YOUNG']);
  await until('the refunds', async () => (await numbers('refunds')).length <= 2);
  expect(await numbers('refunds')).toEqual(['R-LATE-1', 'R-LATE-2']);
  await until('the notices', async () => (await query(`select from ${schema}.notices`)).length <= 1);
  expect(await query(`select message->>'attemptNo' as about from ${schema}.notices`)).toEqual([{ about: 'OWED' }]);

  // The service never retries so late. If it did, the bridge would query the institution and pay nothing.
  const payments = institution.payments.length;
  const paidBack = institution.paidBack.length;
  expect(await word('debit', paid)).toBe('SUCCESS');
  const tooOld = {
    ...{ status: 'DECLINED', decline: 'FINAL', declineKind: 'TECHNICAL' },
    reason: 'the debit began too long ago',
  };
  const unknown = { ...poor, institutionNo: 'GOOD' };
  expect((await ask('debit', { ...unknown, attemptNo: 'U1' })).fields).toEqual({ attemptNo: 'U1', ...tooOld });
  institution.repeatableForMs = Number.MAX_SAFE_INTEGER;
  const other = await world.start();
  expect((await ask('debit', { ...unknown, attemptNo: 'U2' }, other)).fields).toEqual({ attemptNo: 'U2', ...tooOld });
  expect(await word('debit-query', { ...questionOf('TAKEN'), startedAt: paid.startedAt })).toBe('SUCCESS');
  expect(await word('refund', refund('R-BACK', 'BACK'))).toBe('SUCCESS');
  expect(await word('refund-query', refund('R-PAID', 'PAID'))).toBe('SUCCESS');
  expect(institution.payments).toHaveLength(payments);
  expect(institution.paidBack).toHaveLength(paidBack);
});
