import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { raiseAlert } from '../../src/alerts/alerts-sql.js';
import type { Cell } from '../../src/platform/cells.js';
import { readOrCreateInstallationKey } from '../../src/platform/secrets/keyed-hasher.js';
import { createKey, openVault } from '../../src/platform/secrets/vault.js';
import { type ConsoleClient, consoleClient } from '../console/support.js';
import { type Stage, stage } from '../orders/support.js';
import { becomeCell } from './support.js';

const vault = openVault([createKey()]);
let here: Stage;
let there: Stage;
let viewer: ConsoleClient;
const cells: Cell[] = [];

/** Stores figures of the last hour, as the engine counts them. */
async function figures({ service }: Stage, orders: number): Promise<void> {
  const { database } = service.fresh;
  const at = new Date(service.clock.now()).toISOString();
  await database.query(
    `insert into hourly_figures (hour, channel_id, orders_created, paid_cent)
     select date_trunc('hour', $1::timestamptz), channel_id, $2, $2 * 100 from channels limit 1`,
    [at, orders],
  );
  await database.query(
    `insert into order_counts (channel_id, active, waiting_for_retry, due_today) select channel_id, $1, 0, 0 from channels limit 1`,
    [orders],
  );
}

beforeAll(async () => {
  there = await stage({ vault, cell: 2, cells });
  await becomeCell(there.service.fresh.database, 2);
  here = await stage({ vault, cell: 0, cells });
  for (const [place, one] of [here, there].entries()) {
    one.service.clock.set(Date.now());
    cells.push({ cell: place * 2, console: `${one.service.baseUrl}/console` });
    await figures(one, place + 1);
  }
  await readOrCreateInstallationKey(here.service.fresh.database, vault, 'cells');
  const [key] = await here.service.fresh.database.query<{ wrapped: string }>(
    `select wrapped from look_up_keys where purpose = 'cells'`,
  );
  await there.service.fresh.database.query(`insert into look_up_keys values ('cells', $1)`, [key?.wrapped]);
  await raiseAlert(there.service.fresh.database, 'billing-failed', '102100000001000', 'cannot bill');
  viewer = await consoleClient(here.service, 'viewer');
});
afterAll(() => Promise.all([here.close(), there.close()]));

const address = (path: string) => `${there.service.baseUrl}/console/api${path}`;

describe('the overview of all cells', () => {
  it('adds up figures and lists alerts of all cells', async () => {
    const { body } = await viewer.get('/cells?range=24h');
    expect(body).toMatchObject({
      totals: { ordersCreated: 3, paidCent: 300 },
      now: { activeOrders: 3, openAlerts: 1 },
      cells: [
        { cell: 0, problem: null, totals: { ordersCreated: 1 } },
        { cell: 2, problem: null, totals: { ordersCreated: 2 }, consoleUrl: cells[1]?.console },
      ],
      alerts: [{ cell: 2, kind: 'billing-failed', subject: '102100000001000' }],
    });
  });

  it('the session names the cell and the consoles of all', async () => {
    const { body } = await viewer.get('/session');
    expect(body).toMatchObject({ cell: 0, cells: [{ cell: 0 }, { cell: 2, consoleUrl: cells[1]?.console }] });
  });

  it('a cell that does not answer is named, and counts as nothing', async () => {
    cells.push({ cell: 5, console: 'http://127.0.0.1:1/console' });
    const { body } = await viewer.get('/cells');
    cells.pop();
    expect(body.cells.at(-1)).toMatchObject({ cell: 5, problem: 'unreachable' });
    expect(body.totals.ordersCreated).toBe(3);
  });

  it('only a cell gets an answer without a session', async () => {
    for (const authorization of ['', 'Cell 1.00', `Cell ${Date.now()}.${'0'.repeat(64)}`]) {
      expect((await fetch(address('/cell-overview?range=24h'), { headers: { authorization } })).status).toBe(401);
    }
  });
});
