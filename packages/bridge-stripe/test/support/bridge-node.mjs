// The bridge as a process, from the compiled code. It kills itself with SIGKILL at a crash point of the kit if the
// debit or refund number contains the point's name: once per number. Files in KILLS_DIR record the kills; without
// KILLS_DIR it never kills itself. Its clock is CLOCK_AHEAD_MS ahead, so that the leases of a killed process have
// ended.

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
  // A notice number contains no crash point. Instead, the process that sends the first notice of the run kills itself.
  const isNotice = point === 'notice-sent';
  if (!(isNotice || number.includes(point)) || !isFirst(isNotice ? point : `${point} ${number}`)) return undefined;
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => {});
}

// Standard input ends when the parent process ends. Nobody else would then stop this process.
process.stdin.resume().on('end', () => process.exit(1));

await runBridge(async ({ env }) => createStripeInstitution({ ...(await readStripeSettings(env)), clock }), {
  clock,
  at,
  pool: 4,
  idleMs: 50,
});
