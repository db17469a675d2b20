const MINUTE_MS = 60_000;
/** Clients tracked separately in one minute; all others share a line. */
const MAX_REMEMBERED = 1000;
const OTHERS = 'others';

/**
 * Limits log lines that unknown clients can cause: writes one line per client and minute, and at the end of the minute
 * a second line with the number held back.
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
    /** Writes the lines that are due at the end of the minute now. */
    flush(): void {
      for (const { end } of [...minutes.values()]) end();
    },
  };
}
