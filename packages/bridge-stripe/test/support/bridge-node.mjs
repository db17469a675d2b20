// The bridge, from the compiled code, that ends itself with kill -9 at the named points of the kit: a number asks for it by
// having the point's name in it, and gets it once, as files in KILLS_DIR remember; without KILLS_DIR nothing dies. Its clock is
// CLOCK_AHEAD_MS ahead, so that what a dead process had in hand is free again.

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
  // Notices have numbers of their own: the first of all dies.
  const isNotice = point === 'notice-sent';
  if (!(isNotice || number.includes(point)) || !isFirst(isNotice ? point : `${point} ${number}`)) return undefined;
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => {});
}

// Whoever started it is gone: nobody would end it.
process.stdin.resume().on('end', () => process.exit(1));

await runBridge(async ({ env }) => createStripeInstitution({ ...(await readStripeSettings(env)), clock }), {
  clock,
  at,
  pool: 4,
  idleMs: 50,
});
