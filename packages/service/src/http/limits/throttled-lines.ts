const MINUTE_MS = 60_000;
/** Clients that are kept apart in one minute; all others share a line. */
const MAX_REMEMBERED = 1000;
const OTHERS = 'others';

/**
 * For lines of the log that unknown clients can cause: writes one for each client in a minute, and at the end of the minute
 * a second one that says how many more there were.
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
    /** Writes what is due at the end of the minute. */
    flush(): void {
      for (const { end } of [...minutes.values()]) end();
    },
  };
}
