/**
 * What happens to a due renewal whose agreement number ends in `tail`. The tail selects the institution's behaviour
 * (docs/bridge.md).
 */
export interface Fate {
  readonly tail: string;
  readonly becomes: 'paid' | 'failed' | 'tried again' | 'ended';
  /** How often an attempt number arrives at the institution: an attempt that it does not know is sent again. */
  readonly arrivals: number;
}

const fate = (tail: string, becomes: Fate['becomes'] = 'paid', arrivals = 1): Fate => ({ tail, becomes, arrivals });

export const PLAIN = fate('8888');
/**
 * The institution answers after the deadline. Only a few orders have this fate, because each occupies a slot for 8 s.
 */
export const SLOW = fate('0009');
/** Fates whose result is known from the answer or from a notice. */
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
/** Fates whose result is known only from a query, which comes after 10 s. */
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

/** An order created `daysAgo` days ago. Each day after its creation is a period to debit. */
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
  /** The periods to debit, without the first. */
  readonly periods: readonly ExpectedPeriod[];
}

export function expected({ fate: { becomes }, daysAgo, totalCycles }: Plan): Expected {
  const due = Math.min(daysAgo, totalCycles - 1);
  const last = due + 1;
  const ends = becomes === 'ended' && totalCycles > 2;
  const periods = Array.from({ length: becomes === 'ended' ? 1 : due }, (_, index): ExpectedPeriod => {
    const cycleNo = index + 2;
    // Only the last period is retried, because a retry never comes later than the next period.
    const tries = becomes === 'tried again' && cycleNo === last ? TRIES : 1;
    return { cycleNo, status: becomes === 'paid' ? 'SUCCESS' : 'FAIL', tries };
  });
  return { status: ends ? 'UNSUBSCRIBED' : last === totalCycles ? 'COMPLETED' : 'ACTIVE', periods };
}
