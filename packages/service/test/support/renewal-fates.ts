/** The meaning of the institution's card tails (docs/bridge.md) for a due renewal. */
export interface Fate {
  readonly tail: string;
  readonly becomes: 'paid' | 'failed' | 'tried again' | 'ended';
  /** How often a number arrives at the institution: one that met an error is retried. */
  readonly arrivals: number;
}

const fate = (tail: string, becomes: Fate['becomes'] = 'paid', arrivals = 1): Fate => ({ tail, becomes, arrivals });

export const PLAIN = fate('8888');
/** Answers after the deadline. Only a few, because each occupies a slot for 8 s. */
export const SLOW = fate('0009');
/** The result is known at once or by a notice. */
export const TOLD: readonly Fate[] = [
  fate('0001', 'tried again'), // declined
  fate('0002', 'failed'), // declined for good
  fate('0003', 'ended'), // the agreement is invalid
  fate('0004'), // pending, then a notice
  fate('0005', 'failed'), // pending, then declined for good
  fate('0010'), // two notices
  fate('0012'), // a forged notice before the real one
  fate('0018', 'tried again'), // pending, then declined
];
/** The result is known only by a query, which takes 10 s. */
export const ASKED: readonly Fate[] = [
  fate('0006'), // the answer is lost
  fate('0007', 'paid', 2), // an error before anything is done
  fate('0008'), // an error after the debit
  fate('0011'), // a late notice
  fate('0013'), // the answer names another amount
  fate('0015'), // a forged answer
  fate('0016'), // garbage
];

export const RETRY_DELAYS = [1, 2];
export const TRIES = RETRY_DELAYS.length + 1;

/** An order created `daysAgo` days ago; each day since then is a period to debit. */
export interface Plan {
  readonly orderNo: number;
  readonly externalOrderNo: string;
  readonly fate: Fate;
  readonly daysAgo: number;
  readonly totalCycles: number;
}

export interface ExpectedPeriod {
  readonly cycleNo: number;
  readonly status: 'SUCCESS' | 'FAIL';
  readonly tries: number;
}

export interface Expected {
  readonly status: 'ACTIVE' | 'COMPLETED' | 'UNSUBSCRIBED';
  /** The periods after the first. */
  readonly periods: readonly ExpectedPeriod[];
}

export function expected({ fate: { becomes }, daysAgo, totalCycles }: Plan): Expected {
  const due = Math.min(daysAgo, totalCycles - 1);
  const last = due + 1;
  const ends = becomes === 'ended' && totalCycles > 2;
  const periods = Array.from({ length: becomes === 'ended' ? 1 : due }, (_, index): ExpectedPeriod => {
    const cycleNo = index + 2;
    // A retry is never later than the next period, which has passed for all but the last.
    const tries = becomes === 'tried again' && cycleNo === last ? TRIES : 1;
    return { cycleNo, status: becomes === 'paid' ? 'SUCCESS' : 'FAIL', tries };
  });
  return { status: ends ? 'UNSUBSCRIBED' : last === totalCycles ? 'COMPLETED' : 'ACTIVE', periods };
}
