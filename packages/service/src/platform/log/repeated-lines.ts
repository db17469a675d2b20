export interface Repeated {
  readonly cause: string;
  /** The number of lines with this cause, including the first line. */
  readonly times: number;
  readonly seconds: number;
}

export interface RepeatedLinesOptions {
  readonly onContinuing: (repeated: Repeated) => void;
  readonly onOver: (repeated: Repeated) => void;
}

const LOOK_MS = 10_000;
const SUMMARY_MS = 60_000;
/**
 * A cause has ended if it caused no line for this time. This time is longer than the pause before a failed job is
 * retried, which is some seconds.
 */
const QUIET_MS = 30_000;
const MAX_CAUSES = 1_000;
const OTHERS = 'others';

interface RunningCause {
  readonly began: number;
  last: number;
  told: number;
  times: number;
  timesTold: number;
}

/**
 * Writes the first line of a cause. If more lines follow, writes a summary about each minute instead, and a last line
 * when the cause has ended. An outage therefore takes only a few lines, however many requests and jobs fail.
 */
export function createRepeatedLines({ onContinuing, onOver }: RepeatedLinesOptions) {
  const running = new Map<string, RunningCause>();
  let timer: NodeJS.Timeout | undefined;

  function writeSummaries(): void {
    const now = performance.now();
    for (const [cause, one] of running) {
      const seconds = (until: number) => Math.round((until - one.began) / 1000);
      if (now - one.last >= QUIET_MS) {
        running.delete(cause);
        if (one.times > 1) onOver({ cause, times: one.times, seconds: seconds(one.last) });
      } else if (now - one.told >= SUMMARY_MS && one.times > one.timesTold) {
        one.told = now;
        one.timesTold = one.times;
        onContinuing({ cause, times: one.times, seconds: seconds(now) });
      }
    }
    if (running.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    /** Writes the line if its cause is new. Otherwise counts it. */
    write(cause: string, write: () => void): void {
      const now = performance.now();
      const name = running.has(cause) || running.size < MAX_CAUSES ? cause : OTHERS;
      const known = running.get(name);
      if (known) {
        known.last = now;
        known.times += 1;
        return;
      }
      running.set(name, { began: now, last: now, told: now, times: 1, timesTold: 1 });
      timer ??= setInterval(writeSummaries, LOOK_MS).unref();
      write();
    },
  };
}

export type RepeatedLines = ReturnType<typeof createRepeatedLines>;
