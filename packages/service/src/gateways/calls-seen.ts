/** The results of the calls to one remote side since the last `flush`. Times are by performance.now(). */
export interface CallsSeen {
  readonly answeredAt: number | undefined;
  /** The failed calls since the last answer: time of the first, time of the last, and their number. */
  readonly failingSince: number | undefined;
  readonly failedAt: number | undefined;
  readonly failures: number;
}

/** Records in memory for each remote side whether it answers. */
export function createCallsSeen() {
  let seen = new Map<string, CallsSeen>();

  function add(key: string, later: CallsSeen): void {
    const before = seen.get(key);
    seen.set(key, before && later.answeredAt === undefined ? addFailures(before, later) : later);
  }

  return {
    note(key: string, isAnswered: boolean): void {
      const now = performance.now();
      add(
        key,
        isAnswered
          ? { answeredAt: now, failingSince: undefined, failedAt: undefined, failures: 0 }
          : { answeredAt: undefined, failingSince: now, failedAt: now, failures: 1 },
      );
    },
    /** Passes the records to `store` and clears them. Keeps them if `store` fails. */
    async flush(store: (taken: ReadonlyMap<string, CallsSeen>) => Promise<void>): Promise<void> {
      if (seen.size === 0) return;
      const taken = seen;
      seen = new Map();
      try {
        await store(taken);
      } catch (error) {
        const meanwhile = seen;
        seen = taken;
        for (const [key, later] of meanwhile) add(key, later);
        throw error;
      }
    },
  };
}

export type CallRecord = ReturnType<typeof createCallsSeen>;

const addFailures = (before: CallsSeen, { failingSince, failedAt, failures }: CallsSeen): CallsSeen => ({
  answeredAt: before.answeredAt,
  failingSince: before.failingSince ?? failingSince,
  failedAt,
  failures: before.failures + failures,
});
