import type { PulledPush } from '@perennial/wire';
import { waitFor } from '../../clock.js';
import { describePushAnswer, type SeenAnswer, sendPush } from '../pushes/send-push.js';
import type { Reporter } from './reporter.js';

/** A push is signed with the time of its pull, and a receiver takes no old ones. */
const MAX_AGE_MS = 60_000;
/** Somebody who breaks the connection each time has not been restarted just then. */
const MAX_BROKEN = 3;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Sends a push until the receiver has seen it. One that cannot be reached is waited for. Undefined when it was not seen, since the
 * program ends or the push has become too old.
 */
export async function forward(
  url: URL,
  push: PulledPush,
  pulledAt: number,
  reporter: Reporter,
  stop: AbortSignal,
): Promise<SeenAnswer | undefined> {
  let broken = 0;
  for (let pause = FIRST_PAUSE_MS; !stop.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    if (performance.now() - pulledAt > MAX_AGE_MS) return undefined;
    const answer = await sendPush(url, push);
    if (answer.kind === 'broken') broken += 1;
    if (answer.kind !== 'unreachable' && (answer.kind !== 'broken' || broken === MAX_BROKEN)) {
      reporter.receiverIsBack();
      return answer;
    }
    reporter.receiverIsAway(describePushAnswer(answer));
    await waitFor(pause, stop).catch(() => undefined);
  }
  return undefined;
}
