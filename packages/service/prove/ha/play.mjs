import { acknowledgedAgain, booksAgree, settled } from './checks.mjs';
import { startLoad } from './load.mjs';
import { sleep } from './waiting.mjs';

/** Seconds of undisturbed load before a fault and after the recovery. */
const SECONDS = { before: 5, after: 5 };

/**
 * Plays one fault under load and checks the result. `history` has the writes and the findings of earlier faults. Only
 * new findings are reported.
 */
export async function play(fault, stand, { history, say }) {
  const { interrupted, receiver } = stand;
  const seconds = fault.seconds ?? SECONDS;
  const pushedAgainBefore = pushedAgain(receiver);
  const eventsBefore = receiver.events.size;
  await fault.before?.(stand);
  await stand.heal();
  say(`  ${fault.title}\n`);
  const load = await startLoad(stand);
  let record;
  try {
    await sleep(seconds.before, interrupted);
    await fault.play(stand);
    await stand.heal();
    await sleep(seconds.after, interrupted);
  } finally {
    record = await load.stop();
  }
  await fault.after?.(stand);
  await stand.heal();

  history.writes.push(...record.writes);
  const found = [
    ...record.findings,
    ...(await settled(stand)),
    ...(await acknowledgedAgain(stand, record.writes)),
    ...(await booksAgree(stand, history.writes)),
  ];
  const findings = found.filter(({ text }) => !history.reported.has(text));
  for (const { text } of findings) history.reported.add(text);
  return {
    title: fault.title,
    tries: record.tries,
    acknowledged: record.writes.filter(({ answer }) => answer !== undefined).length,
    findings,
    longestGapMs: record.longestGapMs,
    longestWaitMs: record.longestWaitMs,
    seen: record.seen,
    events: receiver.events.size - eventsBefore,
    pushedAgain: pushedAgain(receiver) - pushedAgainBefore,
  };
}

const pushedAgain = ({ events, pushes }) => pushes() - events.size;
