/** Timers that are all stopped together. */
export interface Timers {
  after(ms: number, act: () => void): void;
  stop(): void;
}

/** Node's timers overflow beyond this and then fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

export function createTimers(): Timers {
  const timers = new Set<NodeJS.Timeout>();
  let stopped = false;
  return {
    after(ms, act) {
      if (stopped) return;
      const timer = setTimeout(
        () => {
          timers.delete(timer);
          act();
        },
        Math.min(Math.max(ms, 0), MAX_TIMER_MS),
      );
      timers.add(timer);
    },
    stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}
