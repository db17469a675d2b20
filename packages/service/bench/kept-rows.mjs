import { setTimeout as delay } from 'node:timers/promises';

/**
 * Measures one row after another and keeps each result or the reason for its failure. `open` creates what the rows
 * share. After a failed row the shared objects are closed and opened again for the next row, unless they report that
 * they are still usable.
 */
export function keepRows({ open, running, say, limitSeconds, interruption, isInterrupted }) {
  const results = [];
  let opening;

  async function close() {
    // Waits until `open` has finished and then closes what it opened. If `open` fails, it cleans up itself.
    const closing = opening?.then(
      (shared) => shared.close(),
      () => undefined,
    );
    opening = undefined;
    // Limits the wait, because a dead process may not react to the closing, and the earlier rows must still be printed.
    await within(CLOSE_LIMIT_SECONDS, closing).catch((error) => say(`  ${reasonOf(error)}\n`));
  }

  const orDeath = (work) => Promise.race([interruption, running.watch(), within(limitSeconds, work())]);

  return {
    results,
    close,
    /** Measures one row. `about` has the row's name and the fields shown with its result. */
    async measure(about, work) {
      if (isInterrupted()) return;
      say(`  ${about.row}\n`);
      let shared;
      try {
        opening ??= open();
        shared = await orDeath(() => opening);
        results.push({ ...about, ...(await orDeath(() => work(shared))) });
      } catch (error) {
        if (!isInterrupted()) {
          say(`${running.output()}  ${about.row} failed: ${error.stack}\n`);
          results.push({ ...about, failure: reasonOf(error) });
        }
        const isUsable = await within(CLOSE_LIMIT_SECONDS, shared?.isUsable?.()).catch(() => false);
        if (!isUsable) await close();
      }
    },
  };
}

const CLOSE_LIMIT_SECONDS = 60;
const REASON_CHARS = 160;

/** Returns the reason in one line, for a table. */
function reasonOf(error) {
  const [line = ''] = String(error?.message ?? error).split('\n');
  return line.length > REASON_CHARS ? `${line.slice(0, REASON_CHARS)}...` : line;
}

async function within(seconds, work) {
  const over = new AbortController();
  const late = delay(seconds * 1000, undefined, { signal: over.signal }).then(() => {
    throw new Error(`no end within ${seconds} s`);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    late.catch(() => undefined);
    over.abort();
  }
}
