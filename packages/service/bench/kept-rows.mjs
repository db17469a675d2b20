import { setTimeout as delay } from 'node:timers/promises';

/**
 * Measures one row after another and keeps what each came to, be it the reason why it failed. `open` makes what the rows share.
 * After a row that failed nobody knows what is left of that: unless it says that it is still usable, it is closed, and opened
 * anew for the next row.
 */
export function keepRows({ open, running, say, limitSeconds, interruption, isInterrupted }) {
  const results = [];
  let opening;

  async function close() {
    // What was not waited for until it was open is closed all the same. What could not be opened has tidied up after itself.
    const closing = opening?.then(
      (shared) => shared.close(),
      () => undefined,
    );
    opening = undefined;
    // What has died may not answer even to that, and the rows before it are still to be printed.
    await within(CLOSE_LIMIT_SECONDS, closing).catch((error) => say(`  ${reasonOf(error)}\n`));
  }

  const orDeath = (work) => Promise.race([interruption, running.watch(), within(limitSeconds, work())]);

  return {
    results,
    close,
    /** `about` names the row and what its result is shown with. */
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

/** In one line, as it stands in a table. */
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
