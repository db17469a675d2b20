import { expect, it } from 'vitest';
import { raiseAlert } from '../../src/alerts/alerts-sql.js';
import { ofFile } from '../orders/stage-of-file.js';
import { installation } from '../support/installation.js';
import { BRIDGE_NODE, ledgerPort, type Running, until } from '../support/processes.js';
import { webhookReceiver } from './receivers.js';

/**
 * Runs nodes as separate processes, with an unreachable receiver and nodes that die. The nodes' jobs run more often
 * than usual.
 */
const receiver = ofFile(webhookReceiver);
const fresh = ofFile(installation);
const running: Running[] = [];

async function node(): Promise<Running> {
  const alerts = { ALERT_WEBHOOK_URL: receiver.url, ALERT_WEBHOOK_SECRET: 'a secret of the operator' };
  const started = fresh.node(alerts, BRIDGE_NODE);
  running.push(started);
  await ledgerPort(started);
  return started;
}

it('after an outage of the receiver and a kill of every node, the alert and its end are each sent once', async () => {
  receiver.status = 503;
  await Promise.all([node(), node()]);
  await raiseAlert(fresh.database, 'pool-empty', 'COUPON', 'claims wait for codes to be imported');
  await fresh.database.query(
    `insert into claims (order_no, cycle_no, position, channel_id, benefit_code, fulfilment, status, claimed_at)
     values (1, 1, 1, 1, 'COUPON', 'POOL', 'PENDING', now())`,
  );
  await until('a try that failed', async () => {
    const [row] = await fresh.database.query<{ failure: string }>('select failure from alert_messages');
    return row?.failure === 'HTTP 503';
  });
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all(running.map(({ exited }) => exited));

  receiver.status = 200;
  await Promise.all([node(), node()]);
  await fresh.database.query('update alert_messages set send_at = now() where send_at is not null');
  await until('the alert', () => receiver.taken.length > 0);
  await fresh.database.query(`update claims set status = 'FULFILLED', code = 'sealed'`);
  await until('its end', () => receiver.taken.length > 1);
  expect(receiver.taken.map(({ body }) => [body.type, body.kind, body.count])).toEqual([
    ['alert.opened', 'pool-empty', 1],
    ['alert.resolved', 'pool-empty', 1],
  ]);
  expect(running.map((one) => one.stdout() + one.stderr()).join()).not.toMatch(/in-the-address|a secret of/);
});
