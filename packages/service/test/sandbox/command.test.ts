import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { listAudit } from '../../src/operator/audit/audit.js';
import { advanceOrderOfAnyChannel } from '../../src/operator/orders/advance-order.js';
import { openVault } from '../../src/platform/secrets/vault.js';
import { perennial } from '../cli/perennial.js';
import { commandLine } from '../cli/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { attachBridge } from '../support/bridged-channel.js';
import { freshDatabase } from '../support/database.js';
import { requestAt } from '../support/demo.js';
import { timeMachine } from './support.js';

/** Tests the command line beside a running service, on the same database. */
const masterKey = randomBytes(32);
const machine = ofFile(() => timeMachine({ vault: openVault([masterKey]) }));
const line = commandLine(() => machine.service.fresh, { MASTER_KEY: masterKey.toString('base64') });
const run = (...args: readonly string[]) => line.run('order', 'advance', ...args);
const audited = async (orderNo: string) =>
  (await listAudit(machine.service.operator, { subject: orderNo })).map(({ action, detail }) => ({ action, detail }));

describe('order advance', () => {
  it('shows every step with its day, and the service sees it at once', async () => {
    const orderNo = await machine.deducted();
    const ran = await run(orderNo, '--cycles', '3', '--outcome', 'SUCCESS,FAIL_RETRY', '--outcome', 'FAIL');
    expect(ran).toEqual({
      code: 0,
      stderr: '',
      stdout: `${[
        'WHEN                 PERIOD  STATUS      ORDER',
        '2026-02-28 12:00:00  2       SUCCESS     ACTIVE',
        '2026-03-31 12:00:00  3       FAIL_RETRY  ACTIVE',
        '2026-04-01 12:00:00  3       FAIL_RETRY  ACTIVE',
        '2026-04-04 12:00:00  3       FAIL_RETRY  ACTIVE',
        '2026-04-09 12:00:00  3       FAIL_RETRY  ACTIVE',
        '2026-04-16 12:00:00  3       FAIL        ACTIVE',
        '2026-04-30 12:00:00  4       FAIL        ACTIVE',
        '',
        `order ${orderNo} is ACTIVE, next payment 2026-05-31 12:00:00`,
      ].join('\n')}\n`,
    });
    expect(await machine.query(orderNo)).toMatchObject({ nextPayTime: '2026-05-31 12:00:00' });
    expect(await audited(orderNo)).toEqual([
      { action: 'order.advance', detail: { cycles: 3, outcomes: ['SUCCESS', 'FAIL_RETRY', 'FAIL'] } },
    ]);
  });

  it('changes and audits nothing if nothing was due', async () => {
    const orderNo = await machine.deducted();
    const before = await machine.everything(orderNo);
    const ran = await run(orderNo, '--to', '2026-02-01 00:00:00');
    expect(ran).toMatchObject({
      code: 0,
      stdout: `nothing was due\norder ${orderNo} is ACTIVE, next payment 2026-02-28 12:00:00\n`,
    });
    expect(await machine.everything(orderNo)).toEqual(before);
    expect(await audited(orderNo)).toEqual([]);
  });

  it.each([
    [[], 'give either a number of cycles or a time'],
    [['--cycles', '1', '--to', '2026-03-01 00:00:00'], 'give either a number of cycles or a time'],
    [['--cycles', '0'], 'the number of cycles must be a whole number from 1 to 9999, not 0'],
    [['--cycles', '10000'], 'the number of cycles must be a whole number from 1 to 9999, not 10000'],
    [['--to', 'tomorrow'], 'the time must be like "2026-12-31 23:59:59", not "tomorrow"'],
    [
      ['--cycles', '1', '--outcome', 'fail'],
      'an outcome must be SUCCESS or FAIL_RETRY or RETRY_MISSED or FAIL or PENDING or AGREEMENT_INVALID, not "fail"',
    ],
    [['--cycles', '1', '--outcome', 'FAIL,FAIL'], '2 outcomes are more than 1 cycles'],
  ])('%j is refused in one line', async (args, why) => {
    expect(await run('100000000001', ...args)).toEqual({ code: 1, stdout: '', stderr: `perennial: ${why}\n` });
  });

  it('refuses an order that does not exist or has ended', async () => {
    expect((await run('100000000001', '--cycles', '1')).stderr).toBe('perennial: there is no order "100000000001"\n');
    const orderNo = await machine.collected();
    await machine.channel.call('orders/unsubscribe', { orderNo });
    expect(await run(orderNo, '--cycles', '1')).toEqual({
      code: 1,
      stdout: '',
      stderr: `perennial: order ${orderNo} stays: order is unsubscribed\n`,
    });
    expect(await audited(orderNo)).toEqual([]);
  });

  it('calls the institution over a bridge with its own name of the agreement', async () => {
    const { service, channel, institution } = machine;
    await attachBridge(service.operator, 'test_demo', 'BANKPAY', 'http://127.0.0.1:1');
    const orderNo = await machine.create(requestAt(channel, 'BANKPAY', 'its-own-name'));
    const operator = { ...service.operator, clock: service.clock, gateways: { of: async () => institution } };
    expect(await advanceOrderOfAnyChannel(operator, { orderNo, cycles: 1 })).toMatchObject({
      changed: true,
      steps: [{ cycleNo: 2 }],
    });
    expect(institution.debits.at(-1)).toMatchObject({ cycleNo: 2, institutionNo: 'its-own-name' });
  });

  it('is refused in production', async () => {
    const production = await freshDatabase();
    const settings = {
      SVC_ENVIRONMENT: 'production',
      DATABASE_URL: production.url,
      DATA_DIR: line.dataDir,
      MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    };
    const ran = await perennial(['order', 'advance', '100000000001', '--cycles', '1'], settings);
    await production.close();
    const why = 'time travel is available only in the sandbox';
    expect(ran).toEqual({ code: 1, stdout: '', stderr: `perennial: ${why}\n` });
  });
});
