import { readFile, stat, truncate } from 'node:fs/promises';
import path from 'node:path';
import { formatTime } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import type { StatementLine } from '../../src/gateways/gateway.js';
import { attached, BEHALF, CARD, control, debitOf, ledgerOf } from './support.js';

describe('agreements', () => {
  it('are not bound without a code, with a refused code, or with an unreachable phone', async () => {
    const { gateway } = await attached();
    const confirmation = { ...BEHALF, bindOrderNo: '55', reference: undefined, smsCode: '999999' };
    expect(await gateway.confirmBind(confirmation)).toMatchObject({ kind: 'refused' });
    const unreachable = { ...CARD, bankMobile: '13800000009' };
    const request = { ...BEHALF, bindOrderNo: '55', bankCode: undefined, card: CARD };
    expect(await gateway.sendBindCode({ ...request, card: unreachable })).toMatchObject({ kind: 'not-sent' });
    await gateway.sendBindCode(request);
    expect(await gateway.confirmBind(confirmation)).toMatchObject({ kind: 'refused' });
    expect(await gateway.confirmBind({ ...confirmation, smsCode: '123456' })).toMatchObject({ kind: 'refused' });
    // A new code can be requested, and its confirmation succeeds.
    await gateway.sendBindCode(request);
    expect(await gateway.confirmBind({ ...confirmation, smsCode: '123456' })).toMatchObject({ kind: 'bound' });
  });
});

describe('the statement', () => {
  const DAY = 86_400_000;
  const NOON = 1_773_979_200_000;

  async function read(lines: AsyncIterable<StatementLine>): Promise<StatementLine[]> {
    const all: StatementLine[] = [];
    for await (const line of lines) all.push(line);
    return all;
  }

  it('adds up over its pages to what the ledger says, day by day', async () => {
    let now = NOON;
    const clock = { now: () => now };
    const { institution, gateway } = await attached(
      { clock, statementPageLines: 7, delays: { settleMs: 3_600_000_000 } },
      { clock },
    );
    await Promise.all(Array.from({ length: 40 }, (_, index) => gateway.debit(debitOf(`a${index}`))));
    await gateway.debit(debitOf('a40', '0002'));
    await gateway.debit(debitOf('a41', '0004'));
    await gateway.refund({ ...BEHALF, refundNo: 'r1', attemptNo: 'a0', amountCent: 500 });
    const first = formatTime(now).slice(0, 10);
    now += DAY;
    await gateway.debit(debitOf('b1'));
    const second = formatTime(now).slice(0, 10);

    const dayOne = await read(gateway.statement(first));
    expect(dayOne).toHaveLength(43);
    expect(new Set(dayOne.map(({ kind, number }) => `${kind} ${number}`)).size).toBe(43);
    expect(dayOne.find(({ number }) => number === 'a40')).toMatchObject({ status: 'FAIL' });
    expect(dayOne.find(({ number }) => number === 'a41')).toMatchObject({ status: 'PENDING', bookedAt: NOON });
    expect((await read(gateway.statement(second))).map(({ number }) => number)).toEqual(['b1']);

    // The debit settled on the second day, so it moves from the statement of the first day to that of the second.
    await control(institution, { action: 'settle', attemptNo: 'a41' });
    expect(await read(gateway.statement(first))).toHaveLength(42);
    const dayTwo = await read(gateway.statement(second));
    expect(dayTwo).toMatchObject([{ number: 'b1' }, { number: 'a41', status: 'SUCCESS', bookedAt: NOON + DAY }]);

    const { debits, refunds } = await ledgerOf(institution);
    const booked = [...(await read(gateway.statement(first))), ...dayTwo].filter(({ status }) => status === 'SUCCESS');
    const sum = (kind: string) =>
      booked.filter((line) => line.kind === kind).reduce((cents, line) => cents + line.amountCent, 0);
    expect(sum('debit')).toBe(debits.reduce((cents, { debitedCent }) => cents + debitedCent, 0));
    expect(sum('refund')).toBe(refunds.reduce((cents, { amountCent }) => cents + amountCent, 0));
    expect(sum('debit')).toBe(42 * 1990);
  });

  it('begins and ends with the day in Shanghai, and is empty when nothing was booked', async () => {
    let now = Date.parse('2026-03-20T23:59:59.999+08:00');
    const clock = { now: () => now };
    const { gateway } = await attached({ clock }, { clock });
    await gateway.debit(debitOf('1'));
    now += 1;
    await gateway.debit(debitOf('2'));
    expect(await read(gateway.statement('2026-03-20'))).toMatchObject([{ number: '1' }]);
    expect(await read(gateway.statement('2026-03-21'))).toMatchObject([{ number: '2' }]);
    expect(await read(gateway.statement('2026-03-22'))).toEqual([]);
  });
});

describe('the ledger', () => {
  it('is not shown, and faults cannot be set, unless enabled', async () => {
    const { institution } = await attached({ control: false });
    expect((await fetch(`${institution.url}/ledger`)).status).toBe(404);
    expect((await control(institution, { action: 'clear' })).status).toBe(404);
  });

  it('lists agreements ended by a control call; unknown actions and faults are refused', async () => {
    const { institution, gateway } = await attached();
    await control(institution, { action: 'end-agreement', institutionNo: 'SHARED-8888' });
    expect(await gateway.debit(debitOf('1'))).toMatchObject({ kind: 'declined', decline: 'agreement-invalid' });
    expect((await ledgerOf(institution)).canceledAgreements).toEqual(['SHARED-8888']);
    for (const wrong of [{}, { action: 'set', fault: 'no-such' }]) {
      expect((await control(institution, wrong)).status).toBe(400);
    }
  });

  it('holds no card number, name, document or mobile', async () => {
    const { gateway, dataDir } = await attached();
    const request = { ...BEHALF, bindOrderNo: '55', bankCode: 'ICBC', card: CARD };
    expect(await gateway.sendBindCode(request)).toMatchObject({ kind: 'sent' });
    const text = await readFile(path.join(dataDir, 'ledger.jsonl'), 'utf8');
    expect(text).toContain('7890');
    for (const secret of ['123456', CARD.certificateNo, CARD.realName, CARD.bankMobile]) {
      expect(text).not.toContain(secret);
    }
  });

  it('with a truncated last line loses only that line, and accepts new ones', async () => {
    const { institution, gateway, dataDir } = await attached();
    for (const attemptNo of ['1', '2']) await gateway.debit(debitOf(attemptNo));
    await institution.stop();
    const file = path.join(dataDir, 'ledger.jsonl');
    await truncate(file, (await stat(file)).size - 5);
    const second = await attached({ dataDir });
    expect(await second.gateway.queryDebit(debitOf('2'))).toEqual({ kind: 'not-found' });
    expect(await second.gateway.debit(debitOf('2'))).toMatchObject({ kind: 'success' });
    await second.institution.stop();
    const third = await attached({ dataDir });
    expect((await ledgerOf(third.institution)).debits.map(({ attemptNo }) => attemptNo)).toEqual(['1', '2']);
  });
});
