import { randomBytes } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createSandboxGateway } from '../../src/gateways/sandbox/sandbox-gateway.js';
import { refundPayment } from '../../src/operator/orders/refunds/refunds.js';
import { openVault } from '../../src/platform/secrets/vault.js';
import { commandLine } from '../cli/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { collectRequest, demoChannel, sharedRequest } from '../support/demo.js';
import { testService } from '../support/service.js';

/**
 * Creates orders over HTTP on 31 January and refunds one of them in part. Then runs the command line on the same
 * database.
 */
const masterKey = randomBytes(32);
const service = ofFile(() => testService({ vault: openVault([masterKey]) }));
const {
  dataDir: folder,
  run: runAny,
  text: shown,
} = commandLine(() => service.fresh, { MASTER_KEY: masterKey.toString('base64') });
const paymentOrderNos: string[] = [];
beforeAll(async () => {
  const channel = await demoChannel(service);
  for (const request of [sharedRequest(channel), sharedRequest(channel), collectRequest(channel)]) {
    const { data } = await channel.call('orders/create', request);
    paymentOrderNos.push(data.paymentRecords[0].paymentOrderNo);
  }
  const gateway = createSandboxGateway(service.clock);
  const operator = { ...service.operator, clock: service.clock, gateways: { of: async () => gateway } };
  const orderNo = paymentOrderNos[0]?.slice(0, -4) ?? '';
  await refundPayment(operator, { orderNo, cycleNo: 1, amountCent: 990 });
});

const report = (month: string, ...more: readonly string[]) =>
  shown('settlement', 'report', '--channel', 'test_demo', '--month', month, ...more);
const text = (...more: readonly string[]) => report('2026-01', ...more);
const settlement = (...args: readonly string[]) => shown('settlement', ...args);

const TOTALS = {
  ...{ collectedCent: 3980, collectedCount: 2, refundedCent: 990, refundedCount: 1, billedCent: 1990, billedCount: 1 },
};

describe('perennial settlement report', () => {
  it('prints the month of the orders as JSON', async () => {
    const report = JSON.parse(await text());
    expect(report).toMatchObject({ appId: 'test_demo', month: '2026-01', monthIsOver: true, totals: TOTALS });
    const numbers = report.lines.map((one: { paymentOrderNo: string }) => one.paymentOrderNo);
    expect(numbers.toSorted()).toEqual([...paymentOrderNos, paymentOrderNos[0]].toSorted());
    expect(JSON.parse(await text('--json', '--format', 'json'))).toEqual(report);
  });

  it('prints it as CSV', async () => {
    const [header, ...lines] = (await text('--format', 'csv')).trimEnd().split('\r\n');
    expect(header).toMatch(/^kind,time,/);
    expect(lines.map((one) => one.split(',')[0]).toSorted()).toEqual(['BILLED', 'COLLECTED', 'COLLECTED', 'REFUNDED']);
  });

  it('writes a file and shows the sums', async () => {
    const file = path.join(folder, 'january.csv');
    await writeFile(file, 'what was there before');
    const sums = await text('--format', 'csv', '--output', file);
    expect(sums).toMatch(/^test_demo, 2026-01\n/);
    expect(sums).toMatch(/^TEST_SPU_001 +SVC_DEDUCT +39\.80 CNY \(2\) +9\.90 CNY \(1\) +-$/m);
    expect(sums).toMatch(/^Total +39\.80 CNY \(2\) +9\.90 CNY \(1\) +19\.90 CNY \(1\)$/m);
    expect(await readFile(file, 'utf8')).toBe(await text('--format', 'csv'));
    expect(JSON.parse(await text('--output', path.join(folder, 'january.json'), '--json'))).toMatchObject({
      totals: TOTALS,
    });
    expect(await readFile(path.join(folder, 'january.json'), 'utf8')).toBe(await text());
  });

  it('prints nothing and leaves a file unchanged if it fails', async () => {
    const file = path.join(folder, 'kept.csv');
    await writeFile(file, 'what was there before');
    const before = await readdir(folder);
    for (const [args, message] of [
      [['--month', '2026-13', '--output', file], 'the month must have the form 2026-01'],
      [['--month', '2026-01', '--format', 'xml', '--output', file], 'the format must be json or csv'],
      [['--month', '2026-01', '--format', 'csv', '--json'], '--json and --format csv contradict each other'],
      [['--month', '2026-01', '--output', path.join(folder, 'no', 'such', 'folder')], 'the report cannot be written'],
      [['--month', '2026-01', '--channel', 'test_nobody'], 'there is no channel "test_nobody"'],
    ] as const) {
      const ran = await runAny('settlement', 'report', '--channel', 'test_demo', ...args);
      expect(ran).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(message) });
    }
    expect(await readFile(file, 'utf8')).toBe('what was there before');
    expect(await readdir(folder)).toEqual(before);
  });
});

describe('perennial settlement', () => {
  it('shows all channels of a month', async () => {
    const month = await settlement('month', '2026-01');
    expect(month).toMatch(/^2026-01\n/);
    expect(month).toMatch(/^test_demo +39\.80 CNY \(2\) +9\.90 CNY \(1\) +19\.90 CNY \(1\) +-$/m);
    expect(JSON.parse(await settlement('month', '2026-01', '--json'))).toMatchObject({
      status: 'OPEN',
      totals: TOTALS,
    });
  });

  it('closes a month, which the list, the month and the report then show', async () => {
    const closed = await settlement('close', '2026-01', '--note', 'agreed');
    expect(closed).toMatch(/^2026-01, closed by cli:\S+ at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n/);
    expect(await settlement('month', '2026-01')).toBe(closed);
    const months = await settlement('months');
    expect(months).toMatch(/^2026-01 +CLOSED +cli:/m);
    expect(months).toMatch(/^2026-02 +OPEN, next to close$/m);
    expect(months).toMatch(/^2026-03 +OPEN$/m);
    const file = path.join(folder, 'closed.json');
    expect(await text('--output', file)).toMatch(/^test_demo, 2026-01, closed by cli:/);
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ status: 'CLOSED', totals: TOTALS });
  });

  it('shows later payments of a closed month in the next month', async () => {
    await service.fresh.database.query(
      `update payments set amount_cent = amount_cent + 100 where order_no || '0001' = $1`,
      [paymentOrderNos[1]],
    );
    expect(await settlement('month', '2026-02')).toMatch(/^test_demo +- +- +- +1\.00 CNY$/m);
    const file = path.join(folder, 'february.json');
    expect(await report('2026-02', '--output', file)).toMatch(/^Of earlier months +1\.00 CNY \(0\) +- +-$/m);
    expect(await text('--output', file)).toMatch(/^Since +1\.00 CNY \(0\) +- +-$/m);
  });
});
