const MINUTE_MS = 60_000;
/** The maximum number of clients that have their own line in one minute. All other clients share a line. */
const MAX_REMEMBERED = 1000;
const OTHERS = 'others';

/**
 * Limits log lines that unknown clients can cause. Writes one line per client and minute. If more follow, writes their
 * number in a second line at the end of the minute.
 */
export function createThrottledLines() {
  const minutes = new Map<string, { heldBack: number; readonly end: () => void }>();
  return {
    write(who: string, write: () => void, writeMore: (heldBack: number) => void): void {
      const name = minutes.has(who) || minutes.size < MAX_REMEMBERED ? who : OTHERS;
      const running = minutes.get(name);
      if (running) {
        running.heldBack += 1;
        return;
      }
      write();
      const timer = setTimeout(() => minute.end(), MINUTE_MS).unref();
      const minute = {
        heldBack: 0,
        end() {
          clearTimeout(timer);
          minutes.delete(name);
          if (minute.heldBack > 0) writeMore(minute.heldBack);
        },
      };
      minutes.set(name, minute);
    },
    /** Writes now the lines that would be written at the end of the minute. */
    flush(): void {
      for (const { end } of [...minutes.values()]) end();
    },
  };
}
