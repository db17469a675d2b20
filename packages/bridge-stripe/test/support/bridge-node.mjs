// The bridge, from the compiled code, that kills itself with SIGKILL at the kit's named points: a number that contains
// a point's name requests it, once, recorded by files in KILLS_DIR. Without KILLS_DIR nothing is killed. Its clock is
// CLOCK_AHEAD_MS ahead, so that a dead process's leases have ended.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { runBridge, systemClock } from '@perennial/bridge-kit';
import { createStripeInstitution } from '../../dist/index.js';
import { readStripeSettings } from '../../dist/settings.js';

const ahead = Number(process.env['CLOCK_AHEAD_MS'] ?? 0);
const clock = { now: () => systemClock.now() + ahead };

function isFirst(name) {
  try {
    writeFileSync(path.join(process.env['KILLS_DIR'] ?? '', name.replaceAll(/\W/g, '_')), '', { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

function at(point, number) {
  if (!process.env['KILLS_DIR']) return undefined;
  // Notices have their own numbers: the first of all is killed.
  const isNotice = point === 'notice-sent';
  if (!(isNotice || number.includes(point)) || !isFirst(isNotice ? point : `${point} ${number}`)) return undefined;
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => {});
}

// The parent has ended, so nobody else would stop this process.
process.stdin.resume().on('end', () => process.exit(1));

await runBridge(async ({ env }) => createStripeInstitution({ ...(await readStripeSettings(env)), clock }), {
  clock,
  at,
  pool: 4,
  idleMs: 50,
});
