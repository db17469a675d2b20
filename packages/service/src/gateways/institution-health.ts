import { type CallCounter, createCallCounter, toCallResult } from './call-counts.js';
import { createCallsSeen } from './calls-seen.js';
import type { Gateway } from './gateway.js';
import type { Gateways } from './gateway-registry.js';

/**
 * Records for each payment channel whether its institution answers, and counts its calls. Any outcome but `unknown` is
 * an answer, including a refusal. If the bridge answers but its institution did not, the call counts as failed.
 */
export function createInstitutionHealth(counter: CallCounter = createCallCounter()) {
  const seen = createCallsSeen();

  function watchGateway(code: string, gateway: Gateway): Gateway {
    const noted = async <Result extends { readonly kind: string }>(call: Promise<Result>): Promise<Result> => {
      const began = performance.now();
      const outcome = await call;
      const result = toCallResult(outcome);
      seen.note(code, result !== 'unknown');
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
    /** By the code of the payment channel. */
    seen,
  };
}

export type InstitutionHealth = ReturnType<typeof createInstitutionHealth>;
