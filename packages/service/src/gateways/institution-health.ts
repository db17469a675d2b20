import { type CallCounter, createCallCounter, toCallResult } from './call-counts.js';
import type { Gateway } from './gateway.js';
import type { Gateways } from './gateway-registry.js';

/** The results of the calls to one institution since the last call of `take`. Times are by performance.now(). */
export interface CallsSeen {
  readonly answeredAt: number | undefined;
  /** The failed calls since the last answer: time of the first, time of the last, and their number. */
  readonly failingSince: number | undefined;
  readonly failedAt: number | undefined;
  readonly failures: number;
}

const NOTHING_SEEN: CallsSeen = { answeredAt: undefined, failingSince: undefined, failedAt: undefined, failures: 0 };

/**
 * Records for each payment channel whether its institution answers, and counts its calls. Any outcome but `unknown` is
 * an answer, including a refusal. If the bridge answers but its institution did not, the call counts as failed.
 */
export function createInstitutionHealth(counter: CallCounter = createCallCounter()) {
  let seen = new Map<string, CallsSeen>();

  function note(code: string, isAnswered: boolean): void {
    const now = performance.now();
    const before = seen.get(code) ?? NOTHING_SEEN;
    const failed = { failingSince: before.failingSince ?? now, failedAt: now, failures: before.failures + 1 };
    seen.set(code, isAnswered ? { ...NOTHING_SEEN, answeredAt: now } : { ...before, ...failed });
  }

  function watchGateway(code: string, gateway: Gateway): Gateway {
    const noted = async <Result extends { readonly kind: string }>(call: Promise<Result>): Promise<Result> => {
      const began = performance.now();
      const outcome = await call;
      const result = toCallResult(outcome);
      note(code, result !== 'unknown');
      counter.countCall('INSTITUTION', code, result, performance.now() - began);
      return outcome;
    };
    const notedDebit = async <Result extends { readonly kind: string }>(call: Promise<Result>): Promise<Result> => {
      const outcome = await noted(call);
      counter.countDebit(code, outcome);
      return outcome;
    };
    const { testCalls } = gateway;
    return {
      sendBindCode: (request) => noted(gateway.sendBindCode(request)),
      confirmBind: (request) => noted(gateway.confirmBind(request)),
      debit(request) {
        if (request.cycleNo === 1) counter.countFirstDebit(code);
        return notedDebit(gateway.debit(request));
      },
      queryDebit: (request) => notedDebit(gateway.queryDebit(request)),
      refund: (request) => noted(gateway.refund(request)),
      queryRefund: (request) => noted(gateway.queryRefund(request)),
      cancelAgreement: (request) => noted(gateway.cancelAgreement(request)),
      verifyNotice(raw) {
        const notice = gateway.verifyNotice(raw);
        if (notice.kind === 'debit') counter.countDebit(code, notice.outcome);
        return notice;
      },
      statement: (day) => gateway.statement(day),
      ...(testCalls && { testCalls: () => testCalls.call(gateway) }),
    };
  }

  return {
    /**
     * Wraps gateways, so that the results of their calls are recorded, except those of `statement` and `testCalls`.
     */
    watch(gateways: Gateways): Gateways {
      const watched = new Map<string, { readonly gateway: Gateway; readonly noting: Gateway }>();
      return {
        async of(code) {
          const gateway = await gateways.of(code);
          const known = watched.get(code);
          if (known?.gateway === gateway) return known.noting;
          const noting = watchGateway(code, gateway);
          watched.set(code, { gateway, noting });
          return noting;
        },
        close: async () => gateways.close?.(),
      };
    },
    counter,
    /** Returns and clears the records, by the code of the payment channel. */
    take(): ReadonlyMap<string, CallsSeen> {
      const taken = seen;
      seen = new Map();
      return taken;
    },
  };
}

export type InstitutionHealth = ReturnType<typeof createInstitutionHealth>;
