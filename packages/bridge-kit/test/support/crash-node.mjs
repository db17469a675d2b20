// The example bridge as a separate process, from the compiled code. It kills itself with SIGKILL at a crash point if
// the debit or refund number contains the point's name, such as D-KILL-book-written: once per number. Its clock is
// AHEAD milliseconds ahead, so that a test need not wait until the killed process's leases end.

import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runBridge } from '@perennial/bridge-kit';
import { createBank } from '../../../../examples/bridge/bank-bridge.mjs';

const { BANK_URL: url, BANK_TOKEN: token, AHEAD = '0', KILLS = '' } = process.env;
const clock = { now: () => Date.now() + Number(AHEAD) };

function at(point, number) {
  const kill = path.join(KILLS, `${point}-${number.replaceAll(/\W/g, '')}`);
  // A notice number contains no crash point. Instead, the process that sends the first notice of the run kills itself.
  const isWanted =
    number.includes(`KILL-${point}`) || (point === 'notice-sent' && !existsSync(path.join(KILLS, point)));
  if (!isWanted || existsSync(kill)) return undefined;
  writeFileSync(kill, '');
  writeFileSync(path.join(KILLS, point), '');
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => {});
}

await runBridge(() => createBank({ url, token }), { at, clock, idleMs: 50 });
