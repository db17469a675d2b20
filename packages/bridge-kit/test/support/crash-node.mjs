// The example bridge as a separate process, from the compiled code, that kills itself with SIGKILL at a named point: a
// number requests it (…KILL-book-written), once. Its clock is ahead by AHEAD, so that a test need not wait for its
// predecessor's leases.

import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { runBridge } from '@perennial/bridge-kit';
import { createBank } from '../../../../examples/bridge/bank-bridge.mjs';

const { BANK_URL: url, BANK_TOKEN: token, AHEAD = '0', KILLS = '' } = process.env;
const clock = { now: () => Date.now() + Number(AHEAD) };

function at(point, number) {
  const kill = path.join(KILLS, `${point}-${number.replaceAll(/\W/g, '')}`);
  // Notices have their own numbers: the first of all is killed.
  const isWanted =
    number.includes(`KILL-${point}`) || (point === 'notice-sent' && !existsSync(path.join(KILLS, point)));
  if (!isWanted || existsSync(kill)) return undefined;
  writeFileSync(kill, '');
  writeFileSync(path.join(KILLS, point), '');
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => {});
}

await runBridge(() => createBank({ url, token }), { at, clock, idleMs: 50 });
