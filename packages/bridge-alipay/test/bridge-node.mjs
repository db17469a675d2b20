// The bridge to Alipay, from the compiled code, that ends itself with kill -9 at the named points of the kit, one after the
// other, until it has done so KILLS times: test_bridge_kills remembers. It believes that it is tomorrow, when there is a bill of today.

import { createAlipayInstitution, readAlipaySettings } from '@perennial/bridge-alipay';
import { CRASH_POINTS, runBridge, systemClock } from '@perennial/bridge-kit';
import pg from 'pg';

const DAY_MS = 24 * 3_600_000;
const tomorrow = { now: () => systemClock.now() + DAY_MS };

const memory = new pg.Client({ connectionString: process.env.DATABASE_URL });
await memory.connect();
await memory.query('create table if not exists test_bridge_kills (point text, number text)');
const { rows } = await memory.query('select count(*)::int as kills from test_bridge_kills');
const { kills } = rows[0];
const point = kills < Number(process.env.KILLS) ? CRASH_POINTS[kills % CRASH_POINTS.length] : undefined;
// There are fewer notices than debits.
let left = point === 'notice-sent' ? 1 : 3;

async function dieAt(reached, number) {
  if (reached !== point) return;
  left -= 1;
  if (left !== 0) return;
  await memory.query('insert into test_bridge_kills values ($1, $2)', [point, number]);
  process.kill(process.pid, 'SIGKILL');
  await new Promise(() => {});
}

await runBridge(async ({ env }) => createAlipayInstitution({ ...(await readAlipaySettings(env)), clock: tomorrow }), {
  at: dieAt,
  idleMs: 100,
});
process.stdout.write(`${JSON.stringify({ ready: true, port: Number(process.env.PORT) })}\n`);
