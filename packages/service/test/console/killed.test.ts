import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { type ReferenceProgram, startInstitution } from '@perennial/reference-peers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBridgeGateway } from '../../src/gateways/bridge/bridge-gateway.js';
import { createGatewayRegistry, type Gateways } from '../../src/gateways/gateway-registry.js';
import { createSandboxGateway } from '../../src/gateways/sandbox/sandbox-gateway.js';
import { finishApprovals } from '../../src/operator/approvals/carry-out.js';
import { requestRefund } from '../../src/operator/approvals/request-refund.js';
import { prepareRun, showRun, startRun } from '../../src/operator/bulk/bulk-runs.js';
import { workOffRuns } from '../../src/operator/bulk/work-off.js';
import type { OperatorWithGateways } from '../../src/operator/operator.js';
import { systemClock } from '../../src/platform/clock.js';
import { openVault } from '../../src/platform/secrets/vault.js';
import { createService, type Service } from '../../src/service.js';
import { ledgerOf } from '../institution/support.js';
import { PRODUCT } from '../operator/support.js';
import { periodNo } from '../refunds/support.js';
import { bridgedChannel } from '../support/bridged-channel.js';
import { type ChannelClient, channelClient } from '../support/channel-client.js';
import { type FreshDatabase, freshDatabase } from '../support/database.js';
import { requestAt, unique } from '../support/demo.js';
import { freePort } from '../support/free-port.js';
import { OPERATORS_NODE, start } from '../support/processes.js';
import { nodeDeps } from '../support/service.js';

/**
 * Tests processes that are killed with kill -9 in the middle of operators' actions, with an institution that has its
 * own books.
 */
const masterKey = randomBytes(32);
let fresh: FreshDatabase;
let service: Service;
let gateways: Gateways;
let ann: OperatorWithGateways;
let channel: ChannelClient;
let there: ReferenceProgram;

beforeAll(async () => {
  fresh = await freshDatabase();
  const { database } = fresh;
  const vault = openVault([masterKey]);
  gateways = createGatewayRegistry(
    { database, vault, environment: 'sandbox' },
    {
      sandbox: () => createSandboxGateway(systemClock),
      bridge: (url, key) => createBridgeGateway({ url, key, clock: systemClock }),
    },
  );
  ann = { database, vault, environment: 'sandbox', actor: 'ann', clock: systemClock, gateways };
  service = createService({ database, vault, clock: systemClock, ...nodeDeps({ gateways }) });
  await service.server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = service.server.server.address() as AddressInfo;
  const bridgePort = await freePort();
  const { channel: made, key } = await bridgedChannel(ann, 'BRIDGE', `http://127.0.0.1:${bridgePort}`);
  there = await startInstitution({
    port: bridgePort,
    key: Buffer.from(key, 'base64'),
    clock: systemClock,
    control: true,
    delays: { settleMs: 0 },
  });
  channel = channelClient(`http://127.0.0.1:${port}`, made);
});
afterAll(async () => {
  await service.stop();
  await there.stop();
  await fresh.close();
});

async function paidOrder(): Promise<string> {
  const request = requestAt(channel, 'BRIDGE', `${unique('shared')}-8888`);
  const reply = await channel.call('orders/create', { ...request, productCode: PRODUCT.productCode });
  expect(reply.data, reply.text).toMatchObject({ orderStatus: 'ACTIVE' });
  return reply.data.orderNo;
}

/** Runs an action in a separate process until the process kills itself at `point`. */
async function killedAt(point: string, ...args: string[]): Promise<void> {
  const settings = { DATABASE_URL: fresh.url, MASTER_KEY: masterKey.toString('base64'), DATA_DIR: '/nonexistent' };
  const child = start(OPERATORS_NODE, { ...settings, DIES: point }, args);
  expect(await child.exited, child.stderr() + child.stdout()).toBeNull();
}

/** Returns the amount and the number of refunds that the institution has made for an order. */
async function givenBack(orderNo: string): Promise<[cents: number, refunds: number]> {
  const { refunds } = await ledgerOf(there);
  const mine = refunds.filter((one) => one.refundNo.includes(orderNo) && one.status === 'SUCCESS');
  return [mine.reduce((sum, one) => sum + one.amountCent, 0), mine.length];
}

const LIMITS = { refundApprovalCent: 100, refundDailyCent: 0 };
const fail = (_: unknown, error: unknown) => {
  throw error;
};

describe('the process of an approver is killed', () => {
  it.each(['after-decision', 'before-call', 'after-call'])('%s: the engine finishes it, once', async (point) => {
    const orderNo = await paidOrder();
    const input = { orderNo, cycleNo: 1, key: 'k', note: 'too late' };
    const { approvalId } = await requestRefund(ann, input, LIMITS);
    await killedAt(point, approvalId ?? '');
    const [row] = await fresh.database.query<object>(
      'select status, decided_by, result from approvals where approval_id = $1',
      [approvalId],
    );
    expect(row).toEqual({ status: 'APPROVED', decided_by: 'bob', result: null });
    expect(await finishApprovals({ ...ann, actor: 'engine' }, fail, () => false, 0)).toBe(1);
    expect(await givenBack(orderNo)).toEqual([1990, 1]);
    const [done] = await fresh.database.query<{ result: string }>(
      'select result from approvals where approval_id = $1',
      [approvalId],
    );
    expect(done?.result).toBe(`R${periodNo(orderNo)}01`);
    expect(await requestRefund(ann, input, LIMITS)).toMatchObject({ status: 'SUCCESS', changed: false });
  });
});

describe('a node that works on a run is killed', () => {
  /** Starts a run, and approves it if that is needed. */
  async function started(kind: string, items: readonly string[]): Promise<string> {
    const run = await prepareRun(ann, { kind, items, reason: 'on purpose', key: unique('key') }, 'admin');
    await startRun(ann, run, 'admin');
    await fresh.database.query(`update bulk_runs set status = 'RUNNING' where run_id = $1 and status = 'WAITING'`, [
      run.runId,
    ]);
    return run.runId;
  }
  /** Continues on another node, after the first node's lease has expired. */
  async function goOn(): Promise<void> {
    expect(await workOffRuns(ann)).toBe(0);
    await fresh.database.query('update bulk_runs set lease_until = now() where lease_until is not null');
    await workOffRuns(ann);
  }

  it.each(['before-call 2', 'after-call 2', 'before-commit 6'])(
    'over a refund (%s): another goes on, and each is given back once',
    async (point) => {
      const orders = [await paidOrder(), await paidOrder(), await paidOrder()];
      const runId = await started(
        'REFUND',
        orders.map((orderNo) => `${orderNo}-1`),
      );
      await killedAt(point);
      expect(await showRun(ann, { runId }, 'admin')).toMatchObject({ status: 'RUNNING', done: 1 });
      await goOn();
      expect(await showRun(ann, { runId }, 'admin')).toMatchObject({ status: 'DONE', done: 3, failed: 0 });
      for (const orderNo of orders) expect(await givenBack(orderNo)).toEqual([1990, 1]);
    },
  );

  it('before the commit of an unsubscribe: another node does it, with one event', async () => {
    const orders = [await paidOrder(), await paidOrder(), await paidOrder()];
    const runId = await started('UNSUBSCRIBE', orders);
    await killedAt('before-commit 2');
    expect(await showRun(ann, { runId }, 'admin')).toMatchObject({ done: 1 });
    await goOn();
    expect(await showRun(ann, { runId }, 'admin')).toMatchObject({ status: 'DONE', done: 3, skipped: 0 });
    for (const orderNo of orders) {
      const told = await fresh.database.query(
        `select from events where order_no = $1 and data like '%"orderStatus":"UNSUBSCRIBED"%'`,
        [orderNo],
      );
      expect(told).toHaveLength(1);
    }
  });
});
