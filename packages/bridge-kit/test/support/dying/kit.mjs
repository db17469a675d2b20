// Replaces the kit in a bridge that kills itself with SIGKILL at the points in KILLS, such as `debit
// book-written,notice notice-sent`: one kill per process. The table test_bridge_kills records the kills. The
// institution's clock is INSTITUTION_AHEAD_MS ahead.

import { runBridge as run, systemClock } from '@perennial/bridge-kit';
import pg from 'pg';

export * from '@perennial/bridge-kit';

const { DATABASE_URL, KILLS = '', INSTITUTION_AHEAD_MS = '0', PORT } = process.env;
const ahead = { now: () => systemClock.now() + Number(INSTITUTION_AHEAD_MS) };

export async function runBridge(createInstitution) {
  const memory = new pg.Client({ connectionString: DATABASE_URL });
  await memory.connect();
  await memory.query('create table if not exists test_bridge_kills (at_what text, number text)');
  const { rows } = await memory.query('select count(*)::int as kills from test_bridge_kills');
  const [{ kills }] = rows;
  if (kills > 0) await passTime(memory);
  const [about, point] = KILLS.split(',')[kills]?.split(' ') ?? [];
  // Kills at the third debit or refund number, so that there are numbers in every state. Kills at the first notice,
  // because there are fewer notices.
  let left = about === 'notice' ? 1 : 3;

  const at = async (reached, number) => {
    if (reached !== point || !(await isOf(about, number))) return;
    left -= 1;
    if (left !== 0) return;
    await memory.query('insert into test_bridge_kills values ($1, $2)', [`${about} ${point}`, number]);
    process.kill(process.pid, 'SIGKILL');
    await new Promise(() => {});
  };
  const isOf = async (kind, number) =>
    kind === 'notice' ||
    (await memory.query(`select from bridge.${kind}s where number = $1`, [number])).rows.length > 0;
  await run((surroundings) => createInstitution({ ...surroundings, clock: ahead }), { at, idleMs: 100 });
  process.stdout.write(`${JSON.stringify({ ready: true, port: Number(PORT) })}\n`);
}

/** Ends the leases of the killed process, which would last up to 20 seconds. */
async function passTime(memory) {
  for (const table of ['debits', 'refunds', 'notices']) {
    await memory.query(`update bridge.${table} set in_hand_until = 0 where in_hand_until > 0`);
  }
}
