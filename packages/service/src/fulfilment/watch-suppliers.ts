import { type CallCounter, toCallResult } from '../gateways/call-counts.js';
import type { Fulfilment, Supplier } from './fulfilment.js';
import type { Fulfilments } from './fulfilment-registry.js';

/** Wraps fulfilments, so that the calls to suppliers are counted. */
export function watchSuppliers(fulfilments: Fulfilments, counter: CallCounter): Fulfilments {
  function watch(benefitCode: string, supplier: Supplier): Supplier {
    const counted = async <Result extends { readonly kind: string }>(call: Promise<Result>): Promise<Result> => {
      const began = performance.now();
      const outcome = await call;
      counter.countCall('SUPPLIER', benefitCode, toCallResult(outcome), performance.now() - began);
      return outcome;
    };
    return {
      kind: 'SUPPLIER',
      fulfil: (claim) => counted(supplier.fulfil(claim)),
      query: (claim) => counted(supplier.query(claim)),
    };
  }
  return {
    async of(tx, benefitCode): Promise<Fulfilment> {
      const found = await fulfilments.of(tx, benefitCode);
      return found.kind === 'SUPPLIER' ? watch(benefitCode, found) : found;
    },
    supplierOf: async (benefitCode) => watch(benefitCode, await fulfilments.supplierOf(benefitCode)),
    close: () => fulfilments.close(),
  };
}
