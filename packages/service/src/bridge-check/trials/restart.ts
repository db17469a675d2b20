import { setTimeout as pause } from 'node:timers/promises';
import { debitedCent } from '../book.js';
import { BridgeGone, NotTried } from '../findings.js';
import type { Check, Trial } from './trial.js';

const LOOK_EVERY_MS = 200;

/** The last of all: a bridge that forgets would break every other rule too. */
export const RESTART_TRIAL: Trial = {
  rules: ['restart'],
  run: async (check) => {
    const { teller, findings, given } = check;
    const attempt = await teller.debitedOnce({ once: 'restart' });
    const refund = await teller.refundedOnce(attempt, debitedCent(attempt), 'restart');
    await given.restart?.().catch((error: Error) => {
      throw new NotTried(error.message);
    });
    await untilBack(check);
    await teller.query(attempt);
    await teller.query(refund);
    const again = await teller.debit(attempt);
    findings.judge('restart', again.word === 'SUCCESS', `a debit from before was answered ${again.word}`);
  },
};

async function untilBack({ caller, teller, given }: Check): Promise<void> {
  const until = given.clock.now() + given.waitMs;
  for (;;) {
    if (await caller.isThere(teller.queryOf(teller.unsent(`${given.prefix}?`)))) return;
    if (given.clock.now() >= until) throw new BridgeGone('the bridge did not come back after its restart');
    await pause(LOOK_EVERY_MS);
  }
}
