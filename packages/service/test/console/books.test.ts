import { parseTime } from '@perennial/wire';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { showSettlementMonth } from '../../src/operator/books/settlement-months.js';
import { createPaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import { ofFile } from '../orders/stage-of-file.js';
import { putAttempt } from '../reconciliation/support.js';
import { putOrder, putPayment, report } from '../settlement/support.js';
import { testService } from '../support/service.js';
import { personOfFile, slowConsole, walk } from './support.js';

const service = ofFile(testService);
const viewer = personOfFile(() => service, 'viewer');
const support = personOfFile(() => service, 'support');
const finance = personOfFile(() => service, 'finance');
const admin = personOfFile(() => service, 'admin');
let channelIds: string[];
const APPS = ['test_one', 'test_two'];
const ORDER = 100000001000;
const at = (time: string) => parseTime(time) ?? Number.NaN;

beforeAll(async () => {
  for (const appId of APPS) await service.channel(appId);
  const rows = await service.fresh.database.query<{ id: string }>(
    'select channel_id::text as id from channels order by app_id',
  );
  channelIds = rows.map(({ id }) => id);
  await createPaymentChannel(service.operator, {
    ...{ code: 'PAY', displayName: 'Pay', gateway: 'sandbox', supportedBanks: ['*'] },
  });
});
beforeEach(async () => {
  service.clock.set(at('2026-04-15 12:00:00'));
  await service.fresh.database.query(
    'truncate orders, payments, refunds, debit_attempts, closed_months, reconciliations, reconciliation_differences',
  );
  await service.fresh.database.query(`update channels set created_at = timestamptz '2026-01-05 00:00:00+08'`);
});

describe('reconciliation', () => {
  const HEADER = 'kind,number,amountCent,status,bookedAt,institutionRef';
  const statement = (number: string) => `${HEADER}\nDEBIT,${number},1990,SUCCESS,2026-01-30 12:00:00,ref-1\n`;
  const day = '2026-01-30';

  it('accepts an uploaded statement, and links each difference to its order, if there is one', async () => {
    await putOrder(service.fresh.database, { orderNo: ORDER, channelId: channelIds[0] ?? '' });
    const ours = await putAttempt(service.fresh.database, { orderNo: ORDER, status: 'STARTED' });
    await service.fresh.database.query(`update debit_attempts set payment_channel_code = 'PAY', ask_at = null`);
    const csv = `${statement(ours)}DEBIT,999999999999000101,500,SUCCESS,2026-01-30 12:00:00,ref-2\n`;
    const body = { paymentChannelCode: 'PAY', day, csv };
    expect((await viewer.post('/reconciliations', body)).status).toBe(403);
    const done = await finance.post('/reconciliations', body);
    expect([done.status, done.body]).toMatchObject([
      200,
      { ...{ paymentChannelCode: 'PAY', day, source: 'FILE', lines: 2, open: 2, runBy: finance.name } },
    ]);
    expect((await viewer.get('/reconciliations?paymentChannelCode=PAY')).body).toEqual({
      reconciliations: [done.body],
      nextCursor: null,
    });
    const { differences } = (await viewer.get(`/differences?day=${day}`)).body;
    const orders = Object.fromEntries(
      differences.map(({ number, orderNo }: Record<string, string>) => [number, orderNo]),
    );
    expect(orders).toEqual({ [ours]: `${ORDER}`, '999999999999000101': null });
  });

  it('assigns a difference, and closes it once with a note', async () => {
    await finance.post('/reconciliations', { paymentChannelCode: 'PAY', day, csv: statement('999999999999000101') });
    const { differences } = (await viewer.get('/differences')).body;
    const path = `/differences/${differences[0].differenceNo}`;
    expect((await support.put(`${path}/owner`, { owner: finance.name })).body).toMatchObject({
      difference: { owner: finance.name },
      changed: true,
    });
    expect((await support.put(`${path}/owner`, { owner: finance.name })).body.changed).toBe(false);
    expect((await support.put(`${path}/owner`, { owner: 'nobody-here' })).status).toBe(404);
    expect((await support.post(`${path}/close`, { note: 'x' })).status).toBe(403);
    expect((await finance.post(`${path}/close`, { note: 'theirs by mistake' })).body).toMatchObject({
      difference: { closedBy: finance.name, closingNote: 'theirs by mistake', orderNo: null },
      changed: true,
    });
    expect((await finance.post(`${path}/close`, { note: 'again' })).body.changed).toBe(false);
    expect((await viewer.get('/differences')).body.differences).toEqual([]);
    expect((await viewer.get('/differences?which=all')).body.differences).toHaveLength(1);
    expect((await finance.post('/differences/424242/close', { note: 'x' })).status).toBe(404);
    expect((await finance.post('/differences/none/close', { note: 'x' })).status).toBe(404);
  });

  it('masks mobile numbers in closing notes for viewers, in lists and exports', async () => {
    await finance.post('/reconciliations', { paymentChannelCode: 'PAY', day, csv: statement('999999999999000101') });
    const [{ differenceNo }] = (await viewer.get('/differences')).body.differences;
    await finance.post(`/differences/${differenceNo}/close`, { note: 'called 13812345678' });
    for (const [client, note] of [
      [viewer, 'called 138****5678'],
      [finance, 'called 13812345678'],
    ] as const) {
      expect((await client.get('/differences?which=all')).body.differences).toMatchObject([{ closingNote: note }]);
      expect((await client.get('/differences.csv?which=all')).body).toContain(`,${note},`);
    }
  });

  it('exports differences with their amounts as a spreadsheet needs them', async () => {
    await finance.post('/reconciliations', { paymentChannelCode: 'PAY', day, csv: statement('999999999999000101') });
    const { headers, body } = await viewer.get('/differences.csv?paymentChannelCode=PAY');
    expect(headers.get('content-disposition')).toContain('"differences-as-of-2026-04-15.csv"');
    const [head, line, ...more] = body.replace('\uFEFF', '').split('\r\n');
    expect(head).toMatch(/^differenceNo,paymentChannelCode,day,kind,.*,hereAmount,hereStatus,thereAmount,.*,currency$/);
    expect(line).toMatch(/^\d+,PAY,2026-01-30,MISSING_HERE,DEBIT,"9{12}000101\t",,,,19\.90,SUCCESS,.*,CNY$/);
    expect(more).toEqual(['']);
    expect((await viewer.get('/differences.csv?day=2999-01-01')).status).toBe(409);
  });

  it('ends the alert about a day when its last difference is closed, or is gone', async () => {
    const openAlerts = async () =>
      (await viewer.get('/alerts')).body.alerts.filter(({ kind }: { kind: string }) =>
        kind.startsWith('reconciliation'),
      );
    const compare = (csv: string) => finance.post('/reconciliations', { paymentChannelCode: 'PAY', day, csv });
    await compare(`${statement('999999999999000101')}DEBIT,999999999999000201,5,SUCCESS,2026-01-30 12:00:00,ref-2\n`);
    const [first, second] = (await viewer.get('/differences')).body.differences;
    const closing = { note: 'theirs by mistake' };
    await finance.post(`/differences/${first.differenceNo}/close`, closing);
    expect(await openAlerts()).toHaveLength(1);
    await finance.post(`/differences/${second.differenceNo}/close`, closing);
    expect(await openAlerts()).toEqual([]);
    await compare(statement('999999999999000301'));
    expect(await openAlerts()).toHaveLength(1);
    await compare(`${HEADER}\n`);
    expect(await openAlerts()).toEqual([]);
  });

  it('pages days and differences by a cursor', async () => {
    for (const one of ['2026-01-28', '2026-01-29', '2026-01-30']) {
      const lineOf = (n: number) =>
        `DEBIT,9999999999${one.slice(-2)}000${n}01,1990,SUCCESS,${one} 12:00:00,ref-${one}-${n}`;
      const csv = [1, 2].map(lineOf).join('\n');
      await finance.post('/reconciliations', { paymentChannelCode: 'PAY', day: one, csv: `${HEADER}\n${csv}\n` });
    }
    expect(await walk(viewer, '/reconciliations?limit=2', 'reconciliations', 'day')).toEqual([
      '2026-01-30',
      '2026-01-29',
      '2026-01-28',
    ]);
    expect(await walk(viewer, '/differences?limit=2', 'differences', 'day')).toEqual(
      ['2026-01-30', '2026-01-29', '2026-01-28'].flatMap((one) => [one, one]),
    );
    for (const day of ['2026-13-45', '0000-01-01']) {
      const forged = Buffer.from(`["differences","${day}",1]`).toString('base64url');
      expect((await viewer.get(`/differences?cursor=${forged}`)).status).toBe(400);
      expect((await viewer.get(`/differences?day=${day}`)).body.code).toBe('day-malformed');
    }
  });
});

describe('settlement', () => {
  const put = (cycleNo: number, paidAt: string, more: object = {}) =>
    putPayment(service.fresh.database, {
      ...{ orderNo: 1001, cycleNo, channelId: channelIds[0] ?? '', amountCent: 1000, status: 'SUCCESS' },
      paidAt: at(paidAt),
      ...more,
    });
  beforeEach(async () => {
    await putOrder(service.fresh.database, { orderNo: 1001, channelId: channelIds[0] ?? '' });
    await putOrder(service.fresh.database, {
      ...{ orderNo: 1002, channelId: channelIds[1] ?? '', mode: 'CHANNEL_COLLECT', productCode: 'DAILY' },
    });
    await put(1, '2026-01-10 10:00:00', { refunds: [{ amountCent: 300, at: at('2026-01-20 10:00:00') }] });
    await put(1, '2026-01-11 10:00:00', { orderNo: 1002, channelId: channelIds[1], status: 'BILLED', amountCent: 70 });
    await put(2, '2026-02-10 10:00:00');
  });

  const month = async (of: string) => {
    const { status, body } = await viewer.get(`/settlement/${of}`);
    expect(status).toBe(200);
    return body;
  };
  const channelOf = async (of: string, appId = 'test_one') =>
    (await month(of)).channels.find((one: { appId: string }) => one.appId === appId);
  const close = (of: string, confirmation = of) => finance.post(`/settlement/${of}/close`, { confirmation });
  const ZERO = {
    ...{ collectedCent: 0, collectedCount: 0, refundedCent: 0, refundedCount: 0, billedCent: 0, billedCount: 0 },
  };

  it('shows all channels of a month in one table', async () => {
    expect(await month('2026-01')).toEqual({
      month: '2026-01',
      monthIsOver: true,
      currency: 'CNY',
      status: 'OPEN',
      closedBy: null,
      closedAt: null,
      totals: {
        ...{ collectedCent: 1000, collectedCount: 1, refundedCent: 300, refundedCount: 1 },
        ...{ billedCent: 70, billedCount: 1 },
      },
      laterCent: 0,
      feeCent: null,
      shareCent: null,
      payableCent: null,
      unsettled: 0,
      channels: [
        {
          ...{
            appId: 'test_one',
            name: 'Test channel',
            laterCent: 0,
            later: ZERO,
            unsettled: 0,
            fees: null,
            payableCent: null,
          },
          ...{ ...ZERO, collectedCent: 1000, collectedCount: 1, refundedCent: 300, refundedCount: 1 },
          products: [
            {
              ...{ productCode: 'MONTHLY', settlementMode: 'SVC_DEDUCT' },
              ...{ ...ZERO, collectedCent: 1000, collectedCount: 1, refundedCent: 300, refundedCount: 1 },
            },
          ],
        },
        {
          ...{
            appId: 'test_two',
            name: 'Test channel',
            laterCent: 0,
            later: ZERO,
            unsettled: 0,
            fees: null,
            payableCent: null,
          },
          ...{ ...ZERO, billedCent: 70, billedCount: 1 },
          products: [
            {
              ...{ productCode: 'DAILY', settlementMode: 'CHANNEL_COLLECT', ...ZERO, billedCent: 70, billedCount: 1 },
            },
          ],
        },
      ],
    });
  });

  it('exports a file whose columns can be summed', async () => {
    const { headers, body } = await viewer.get('/settlement/2026-01/csv');
    expect(headers.get('content-type')).toContain('text/csv');
    expect(headers.get('content-disposition')).toContain('"settlement-2026-01-as-of-2026-04-15.csv"');
    expect(body.split('\r\n')).toEqual([
      'month,status,appId,channel,part,productCode,settlementMode,collected,collectedCount,refunded,refundedCount,billed,billedCount,fee,share,payable,currency',
      '2026-01,OPEN,test_one,Test channel,MONTH,MONTHLY,SVC_DEDUCT,10.00,1,3.00,1,0.00,0,0.00,0.00,0.00,CNY',
      '2026-01,OPEN,test_two,Test channel,MONTH,DAILY,CHANNEL_COLLECT,0.00,0,0.00,0,0.70,1,0.00,0.00,0.00,CNY',
      '',
    ]);
  });

  it('closes a month: its figures are frozen, and later changes count in the next one', async () => {
    const before = await month('2026-01');
    const { status, body } = await close('2026-01');
    expect([status, body]).toEqual([
      200,
      { ...before, status: 'CLOSED', closedBy: finance.name, closedAt: expect.any(String) },
    ]);
    // The institution reports two debits and a refund of January.
    await put(3, '2026-01-31 23:59:59');
    await put(4, '2026-01-31 23:59:59', {
      ...{ amountCent: 50, refunds: [{ amountCent: 10, at: at('2026-01-31 10:00:00') }] },
    });
    expect(await month('2026-01')).toEqual(body);
    expect(await channelOf('2026-02')).toMatchObject({
      ...{ collectedCent: 1000, collectedCount: 1, laterCent: 1040 },
      later: { ...ZERO, collectedCent: 1050, collectedCount: 2, refundedCent: 10, refundedCount: 1 },
    });
    expect(await channelOf('2026-03')).toMatchObject({ laterCent: 0, later: ZERO });
    expect((await viewer.get('/settlement/2026-02/csv')).body).toContain(
      '2026-02,OPEN,test_one,Test channel,LATER,,,10.50,2,0.10,1,0.00,0,',
    );
    // February has counted these changes, so no other month counts them.
    await close('2026-02');
    expect(await channelOf('2026-02')).toMatchObject({ laterCent: 1040 });
    expect(await channelOf('2026-03')).toMatchObject({ laterCent: 0 });
    // Later changes of January and February count in March.
    await put(5, '2026-01-15 00:00:00', { amountCent: 5 });
    await put(6, '2026-02-15 00:00:00', { amountCent: 7 });
    expect(await channelOf('2026-02')).toMatchObject({ collectedCent: 1000, laterCent: 1040 });
    expect(await channelOf('2026-03')).toMatchObject({ collectedCent: 0, laterCent: 12 });
    await close('2026-03');
    expect(await channelOf('2026-03')).toMatchObject({ collectedCent: 0, laterCent: 12 });
  });

  const line = (of: object) => expect.objectContaining(of);

  it('lists the lines of a channel in the order of time, by filters and page by page', async () => {
    await put(3, '2026-01-31 23:59:59');
    const list = async (query: string) => (await viewer.get(`/settlement/2026-01/lines?appId=test_one${query}`)).body;
    expect((await list('')).lines).toEqual([
      line({ kind: 'COLLECTED', time: '2026-01-10 10:00:00', paymentOrderNo: '10010001', refundNo: null }),
      line({ kind: 'REFUNDED', time: '2026-01-20 10:00:00', refundNo: 'R1001000101', amountCent: 300 }),
      line({ kind: 'COLLECTED', time: '2026-01-31 23:59:59', paymentOrderNo: '10010003' }),
    ]);
    expect((await list('&kind=REFUNDED')).lines).toEqual([line({ refundNo: 'R1001000101' })]);
    expect((await list('&productCode=DAILY')).lines).toEqual([]);
    expect((await list('&settlementMode=SVC_DEDUCT')).lines).toHaveLength(3);
    const path = '/settlement/2026-01/lines?appId=test_one&limit=1';
    expect(await walk(viewer, path, 'lines', 'paymentOrderNo')).toEqual(['10010001', '10010001', '10010003']);
    expect((await viewer.get('/settlement/2026-01/lines?appId=nobody')).status).toBe(404);
    expect((await viewer.get('/settlement/2026-01/lines')).status).toBe(400);
  });

  it('lists all lines on one page however slow the database is', async () => {
    await put(3, '2026-01-31 23:59:59');
    const slow = await slowConsole(service);
    const { body } = await slow.viewer.get('/settlement/2026-01/lines?appId=test_one');
    await slow.close();
    expect(body.lines).toHaveLength(3);
    expect(body.nextCursor).toBeNull();
  });

  it('exports the lines with amounts, and with long numbers that a spreadsheet keeps as text', async () => {
    const { database } = service.fresh;
    await putOrder(database, { orderNo: ORDER, channelId: channelIds[0] ?? '', externalOrderNo: '20260110000000001' });
    await put(1, '2026-01-12 10:00:00', { orderNo: ORDER });
    const csv = async (query = '') => viewer.get(`/settlement/2026-01/lines/csv?appId=test_one${query}`);
    const { headers, body } = await csv();
    expect(headers.get('content-disposition')).toContain('"settlement-test_one-2026-01-as-of-2026-04-15.csv"');
    expect(body.replace('\uFEFF', '').split('\r\n')).toEqual([
      'kind,time,paymentOrderNo,refundNo,externalOrderNo,productCode,settlementMode,cycleNo,amount,currency',
      'COLLECTED,2026-01-10 10:00:00,10010001,,order-1001,MONTHLY,SVC_DEDUCT,1,10.00,CNY',
      `COLLECTED,2026-01-12 10:00:00,"${ORDER}0001\t",,"20260110000000001\t",MONTHLY,SVC_DEDUCT,1,10.00,CNY`,
      'REFUNDED,2026-01-20 10:00:00,10010001,R1001000101,order-1001,MONTHLY,SVC_DEDUCT,1,3.00,CNY',
      '',
    ]);
    expect((await csv('&kind=REFUNDED')).body.split('\r\n')).toHaveLength(3);
    expect((await viewer.get('/settlement/2026-01/lines/csv?appId=nobody')).status).toBe(404);
  });

  describe('with fees', () => {
    const terms = { fromMonth: '2026-01', feeBasisPoints: 60, feeFixedCent: 10, shareBasisPoints: 7000 };
    beforeEach(async () => {
      await service.fresh.database.query('truncate channel_fees');
    });
    const set = (more: object = {}) => admin.post('/channels/test_one/fees', { ...terms, ...more });

    it('shows the fee and the share of each month, by the terms that are valid in it', async () => {
      expect((await finance.post('/channels/test_one/fees', terms)).status).toBe(403);
      expect((await set()).body).toMatchObject({ fees: [{ ...terms, setBy: admin.name }], changed: true });
      expect((await set()).body.changed).toBe(false);
      await set({ fromMonth: '2026-02', feeBasisPoints: 125, shareBasisPoints: 10_000 });
      // 1000 cents, 300 refunded: a fee of 6 + 10, and 70 % of the other 684, which is 478.8.
      expect((await channelOf('2026-01')).fees).toEqual({ ...terms, feeCent: 16, shareCent: 479 });
      // 1.25 % of 1000 is 12.5, and halves are rounded up.
      expect((await channelOf('2026-02')).fees).toMatchObject({ feeCent: 23, shareCent: 977 });
      expect((await channelOf('2026-01', 'test_two')).fees).toBeNull();
      expect(await month('2026-01')).toMatchObject({ feeCent: 16, shareCent: 479 });
      expect((await viewer.get('/settlement/2026-01/csv')).body).toContain(
        '2026-01,OPEN,test_one,Test channel,FEES,,,0.00,0,0.00,0,0.00,0,0.16,4.79,4.79,CNY',
      );
      expect((await report({ ...service.operator, clock: service.clock }, '2026-01', 'test_one')).fees).toMatchObject({
        feeCent: 16,
      });
      expect((await viewer.get('/audit?action=channel.set-fees')).body.entries[0]).toMatchObject({
        subject: 'test_one',
        detail: { from: terms, to: { ...terms, fromMonth: '2026-02', feeBasisPoints: 125, shareBasisPoints: 10_000 } },
      });
    });

    it('shows what is payable to a channel, or by a channel that has collected the money itself', async () => {
      await set();
      await admin.post('/channels/test_two/fees', terms);
      expect(await channelOf('2026-01')).toMatchObject({ payableCent: 479 });
      // 70 cents billed, of which 49 are the channel's share.
      expect(await channelOf('2026-01', 'test_two')).toMatchObject({ payableCent: -21 });
      expect(await month('2026-01')).toMatchObject({ payableCent: 458 });
      const summary = await report({ ...service.operator, clock: service.clock }, '2026-01', 'test_two');
      expect(summary).toMatchObject({ payableCent: -21 });
      expect((await viewer.get('/settlement/2026-01/csv')).body).toMatch(/test_two,.*,FEES,.*,0\.49,-0\.21,CNY\r\n/);
      await close('2026-01');
      expect(await channelOf('2026-01', 'test_two')).toMatchObject({ payableCent: -21 });
    });

    it('keeps the fees of a closed month, and counts late debits with those of the next month', async () => {
      await set();
      await close('2026-01');
      expect((await set({ feeBasisPoints: 0 })).body).toMatchObject({ code: 'fees-month-closed', values: ['2026-01'] });
      await set({ fromMonth: '2026-02', feeBasisPoints: 0, feeFixedCent: 1, shareBasisPoints: 5000 });
      await put(3, '2026-01-31 23:59:59');
      expect((await channelOf('2026-01')).fees).toEqual({ ...terms, feeCent: 16, shareCent: 479 });
      expect((await report({ ...service.operator, clock: service.clock }, '2026-01', 'test_one')).fees).toMatchObject({
        feeCent: 16,
      });
      expect((await channelOf('2026-02')).fees).toMatchObject({ feeCent: 2, shareCent: 999 });
    });

    it.each([
      [{ feeBasisPoints: 10_001 }, 'number-out-of-range'],
      [{ feeFixedCent: -1 }, 'number-out-of-range'],
      [{ fromMonth: '2026-13' }, 'month-malformed'],
    ])('refuses %j', async (more, code) => {
      expect((await set(more)).body).toMatchObject({ status: 400, code });
    });
  });

  it('writes an audit entry with the figures', async () => {
    await finance.post('/settlement/2026-01/close', { confirmation: '2026-01', note: 'agreed' });
    const { body } = await viewer.get('/audit?action=settlement.close');
    expect(body.entries[0]).toMatchObject({
      ...{ actor: finance.name, subject: '2026-01' },
      detail: { note: 'agreed', collectedCent: 1000, refundedCent: 300, billedCent: 70, laterCent: 0, unsettled: 0 },
    });
  });

  it('closes past months in order, each once', async () => {
    const refusal = async (of: string, confirmation?: string) => {
      const { status, body } = await close(of, confirmation);
      return [status, body.detail];
    };
    expect(await refusal('2026-02', '2026-01')).toEqual([409, 'to close 2026-02, type 2026-02']);
    expect(await refusal('2026-04')).toEqual([409, '2026-04 is not over yet in Asia/Shanghai']);
    expect(await refusal('2026-13')).toEqual([400, expect.stringContaining('must have the form 2026-01')]);
    const nextIs = (next: string) => [409, `months must be closed in order: the next one is ${next}`];
    expect(await refusal('2026-02')).toEqual(nextIs('2026-01'));
    expect((await close('2026-01')).status).toBe(200);
    expect(await refusal('2026-01')).toEqual([409, expect.stringContaining('2026-01 was already closed by')]);
    service.clock.set(at('2026-06-01 00:00:00'));
    expect(await refusal('2026-05')).toEqual(nextIs('2026-02'));
    // The request is refused, because closing a month from before the first channel would require closing all months
    // after it.
    expect(await refusal('2025-12')).toEqual(nextIs('2026-02'));
    expect((await close('2026-02')).status).toBe(200);
  });

  it('refuses invalid months, and in production months that have not begun', async () => {
    for (const of of ['0000-01', '2026-00', '2026-13', '2026-1', '9999-12']) {
      for (const path of [`/settlement/${of}`, `/settlement/${of}/csv`]) {
        const { status, body } = await viewer.get(path);
        expect([path, status, body.code]).toEqual([path, 400, 'month-malformed']);
      }
    }
    const production = { ...service.operator, clock: service.clock, environment: 'production' as const };
    expect(await showSettlementMonth(production, { month: '2026-04' })).toMatchObject({ monthIsOver: false });
    await expect(showSettlementMonth(production, { month: '2026-05' })).rejects.toThrow(
      '2026-05 has not begun yet in Asia/Shanghai',
    );
    // The sandbox shows a future month, because time travel fills future months.
    expect((await viewer.get('/settlement/2026-05')).status).toBe(200);
  });

  it('is closed by one of three concurrent requests', async () => {
    const replies = await Promise.all([close('2026-01'), close('2026-01'), close('2026-01')]);
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
  });
});
