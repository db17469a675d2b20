/**
 * The remote sides whose calls are counted: institutions by payment channel, suppliers by benefit, channels by app id.
 * A call to a channel is a push.
 */
export const PEERS = ['INSTITUTION', 'SUPPLIER', 'CHANNEL'] as const;
export type Peer = (typeof PEERS)[number];

/** `other`: answered without a result yet, for example a pending debit. `unknown`: no usable answer. */
export type CallResult = 'succeeded' | 'declined' | 'unknown' | 'other';

export interface CallCounts {
  readonly peer: Peer;
  readonly code: string;
  calls: number;
  succeeded: number;
  declined: number;
  unknown: number;
  /** Results of debits, from calls and notices. */
  debitsPaid: number;
  debitsDeclined: number;
  /** First debits of new orders that were sent. */
  firstDebits: number;
  totalMs: number;
  maxMs: number;
}

export interface Outcome {
  readonly kind: string;
  readonly isUnheard?: true;
}

const SUCCEEDED = new Set(['success', 'sent', 'bound', 'canceled', 'fulfilled']);
const DECLINED = new Set(['declined', 'not-sent', 'wrong-code', 'refused']);

/** Any outcome but `unknown` is an answer, unless the bridge says that its institution did not answer. */
export function toCallResult({ kind, isUnheard }: Outcome): CallResult {
  if (kind === 'unknown' || isUnheard) return 'unknown';
  if (SUCCEEDED.has(kind)) return 'succeeded';
  return DECLINED.has(kind) ? 'declined' : 'other';
}

/**
 * Counts this node's calls in memory. The engine stores and clears the counts every few seconds, so a call costs no
 * statement. Counts that are not stored yet are lost if the process is killed.
 */
export function createCallCounter() {
  let counts = new Map<string, CallCounts>();

  function of(peer: Peer, code: string): CallCounts {
    const key = `${peer} ${code}`;
    let found = counts.get(key);
    if (!found) {
      found = { peer, code, ...NONE };
      counts.set(key, found);
    }
    return found;
  }

  return {
    countCall(peer: Peer, code: string, result: CallResult, ms: number): void {
      const found = of(peer, code);
      found.calls += 1;
      if (result !== 'other') found[result] += 1;
      const whole = Math.round(ms);
      found.totalMs += whole;
      found.maxMs = Math.max(found.maxMs, whole);
    },
    countDebit(code: string, { kind }: Outcome): void {
      if (kind === 'success') of('INSTITUTION', code).debitsPaid += 1;
      if (kind === 'declined') of('INSTITUTION', code).debitsDeclined += 1;
    },
    countFirstDebit(code: string): void {
      of('INSTITUTION', code).firstDebits += 1;
    },
    /** Returns and clears the counts. */
    take(): readonly CallCounts[] {
      const taken = [...counts.values()];
      counts = new Map();
      return taken;
    },
    /** Adds counts that could not be stored to the current ones. */
    putBack(taken: readonly CallCounts[]): void {
      for (const { peer, code, maxMs, ...sums } of taken) {
        const found = of(peer, code);
        for (const [name, count] of Object.entries(sums) as [keyof typeof sums, number][]) found[name] += count;
        found.maxMs = Math.max(found.maxMs, maxMs);
      }
    },
  };
}

export type CallCounter = ReturnType<typeof createCallCounter>;

const NONE = {
  calls: 0,
  succeeded: 0,
  declined: 0,
  unknown: 0,
  debitsPaid: 0,
  debitsDeclined: 0,
  firstDebits: 0,
  totalMs: 0,
  maxMs: 0,
};
