import { setTimeout as pause } from 'node:timers/promises';
import { debitedCent } from '../book.js';
import { BridgeGone, NotTried } from '../findings.js';
import type { Check, Trial } from './trial.js';

const LOOK_EVERY_MS = 200;

/** Runs last, because a bridge that forgets numbers when it restarts would break other rules too. */
export const RESTART_TRIAL: Trial = {
  rules: ['restart'],
  run: async (check) => {
    const { outcomes, findings, given } = check;
    const attempt = await outcomes.debitedOnce({ once: 'restart' });
    const refund = await outcomes.refundedOnce(attempt, debitedCent(attempt), 'restart');
    await given.restart?.().catch((error: Error) => {
      throw new NotTried(error.message);
    });
    await untilBack(check);
    await outcomes.query(attempt);
    await outcomes.query(refund);
    const again = await outcomes.debit(attempt);
    findings.judge('restart', again.word === 'SUCCESS', `a debit from before was answered ${again.word}`);
  },
};

async function untilBack({ caller, outcomes, given }: Check): Promise<void> {
  const until = given.clock.now() + given.waitMs;
  for (;;) {
    if (await caller.isThere(outcomes.queryOf(outcomes.unsent(`${given.prefix}?`)))) return;
    if (given.clock.now() >= until) throw new BridgeGone('the bridge did not come back after its restart');
    await pause(LOOK_EVERY_MS);
  }
}
