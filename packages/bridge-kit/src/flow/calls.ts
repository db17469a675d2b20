import type { BridgeLog } from '../log.js';
import type { BridgeMetrics } from '../metrics.js';
import { Unavailable } from '../server/refusals.js';

/** The calls to the institution, each with a timeout. */
export interface Calls {
  /**
   * Returns one deadline for all calls of a request. The service itself waits 8 s for a debit and 10 s for other
   * requests.
   */
  deadline(request?: 'debit'): AbortSignal;
  /**
   * Returns the institution's response, or undefined if the outcome is unknown. Passes a response that arrives after
   * the deadline to `late`, so that a slow result is not lost.
   */
  make<Said extends { readonly status?: string }>(
    operation: string,
    signal: AbortSignal,
    call: (signal: AbortSignal) => Promise<Said>,
    late?: (said: Said) => Promise<unknown>,
  ): Promise<Said | undefined>;
  /** Makes a single call, which gets a new deadline. Throws if the outcome is unknown. */
  require<Said extends { readonly status?: string }>(
    operation: string,
    call: (signal: AbortSignal) => Promise<Said>,
  ): Promise<Said>;
}

export interface CallsOptions {
  readonly callMs: number;
  readonly metrics: BridgeMetrics;
  readonly log: BridgeLog;
}

const MORE_FOR_OTHERS_MS = 2_000;
const GONE = Symbol('gone');

export function createCalls({ callMs, metrics, log }: CallsOptions): Calls {
  const calls: Calls = {
    deadline: (request) => AbortSignal.timeout(request === 'debit' ? callMs : callMs + MORE_FOR_OTHERS_MS),
    async make(operation, signal, call, late) {
      const began = performance.now();
      const count = (outcome: string) => metrics.countCall(operation, outcome, (performance.now() - began) / 1000);
      const isUnknown = (err: unknown) => {
        count('unknown');
        log.warn({ operation, err }, 'no usable answer from the institution: the outcome is unknown');
        return undefined;
      };
      if (signal.aborted) return isUnknown(new Error('the deadline had passed before the call'));
      let made: ReturnType<typeof call>;
      try {
        made = call(signal);
      } catch (err) {
        return isUnknown(err);
      }
      const first = await Promise.race([made, untilAborted(signal)]).catch(isUnknown);
      if (first === GONE) {
        made
          .then((said) => late?.(said))
          .catch((err: unknown) => log.warn({ operation, err }, 'a late answer could not be stored'));
        return isUnknown(new Error('no answer before the deadline'));
      }
      if (first !== undefined) count(first.status ?? 'ok');
      return first;
    },
    async require(operation, call) {
      const said = await calls.make(operation, calls.deadline(), call);
      if (said === undefined) throw new Unavailable('the institution gave no answer');
      return said;
    },
  };
  return calls;
}

function untilAborted(signal: AbortSignal): Promise<typeof GONE> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(GONE), { once: true }));
}
