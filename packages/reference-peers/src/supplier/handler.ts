import { BadMessage, NumberConflict, requireField } from '@perennial/bridge-kit/server';
import { randomBytes } from '@perennial/wire';
import { type Fields, numberOf, positiveOf } from '@perennial/wire/bridge';
import type { Clock } from '../shared/clock.js';
import type { PreparedRequest } from '../shared/faulty-server.js';
import type { Journal } from '../shared/journal.js';
import type { SupplierFault, SupplierOccasion } from './faults.js';
import type { ClaimTerms, SupplierEntry, SupplierLedger } from './ledger.js';
import type { SupplierOperation } from './operations.js';

export interface SupplierHandlerOptions {
  readonly ledger: SupplierLedger;
  readonly journal: Journal;
  readonly clock: Clock;
}

type PreparedClaim = PreparedRequest<SupplierOccasion, SupplierFault>;

/** Hands out codes: one for each claim number, and none before it is in the journal on the disk. */
export class SupplierHandler {
  readonly #options: SupplierHandlerOptions;

  constructor(options: SupplierHandlerOptions) {
    this.#options = options;
  }

  prepare(operation: SupplierOperation, fields: Fields, idempotencyKey: string | undefined): PreparedClaim {
    return operation === 'fulfil' ? this.#fulfil(fields, idempotencyKey) : this.#query(fields);
  }

  #fulfil(fields: Fields, idempotencyKey: string | undefined): PreparedClaim {
    const claim: ClaimTerms = {
      claimNo: requireField(numberOf(fields['claimNo']), 'claimNo'),
      benefitCode: requireField(numberOf(fields['benefitCode']), 'benefitCode'),
      faceValueCent: requireField(readCents(fields['faceValueCent']), 'faceValueCent'),
      orderNo: requireField(numberOf(fields['orderNo']), 'orderNo'),
      cycleNo: requireField(positiveOf(fields['cycleNo']), 'cycleNo'),
    };
    const { claimNo, benefitCode } = claim;
    if (idempotencyKey !== claimNo) throw new BadMessage('header Idempotency-Key must be the claimNo');
    return {
      occasion: { operation: 'fulfil', claimNo, benefitCode },
      run: async (fault) => alterAnswer(await this.#handOut(claim, fault), fault),
      recordArrival: () => this.#arrived(claimNo),
    };
  }

  async #handOut(claim: ClaimTerms, fault: SupplierFault | undefined): Promise<object> {
    const { ledger, clock } = this.#options;
    const { claimNo } = claim;
    const before = ledger.handedOut.get(claimNo);
    if (before !== undefined) {
      // This line is behind that of the code, so once it is on the disk, both are.
      await this.#arrived(claimNo);
      if (before.benefitCode !== claim.benefitCode || before.faceValueCent !== claim.faceValueCent) {
        throw new NumberConflict('this claimNo was used for another benefit or value');
      }
      return { claimNo, status: 'FULFILLED', code: before.code };
    }
    const at = clock.now();
    if (fault === 'refuse') {
      const reason = 'sold out';
      await this.#record({ type: 'refused', at, claimNo, reason });
      return { claimNo, status: 'REFUSED', reason };
    }
    const code = `RS-${Buffer.from(randomBytes(8)).toString('hex').toUpperCase()}`;
    await this.#record({ type: 'fulfilled', at, ...claim, code });
    return { claimNo, status: 'FULFILLED', code };
  }

  #query(fields: Fields): PreparedClaim {
    const claimNo = requireField(numberOf(fields['claimNo']), 'claimNo');
    const { ledger, journal } = this.#options;
    return {
      occasion: { operation: 'fulfil-query', claimNo, benefitCode: ledger.handedOut.get(claimNo)?.benefitCode },
      run: async (fault) => {
        const code = ledger.handedOut.get(claimNo)?.code;
        const reason = ledger.refused.get(claimNo);
        await journal.untilSynced();
        if (code !== undefined) return alterAnswer({ claimNo, status: 'FULFILLED', code }, fault);
        return reason === undefined ? { claimNo, status: 'UNKNOWN' } : { claimNo, status: 'REFUSED', reason };
      },
      recordArrival: async () => undefined,
    };
  }

  #arrived(claimNo: string): Promise<void> {
    return this.#record({ type: 'arrival', at: this.#options.clock.now(), claimNo });
  }

  /** In memory at once, so that the next request sees it. The promise resolves when it is on the disk. */
  #record(entry: SupplierEntry): Promise<void> {
    this.#options.ledger.apply(entry);
    return this.#options.journal.append(entry);
  }
}

/** The face value of a benefit may be 0. */
function readCents(value: unknown): number | undefined {
  return value === 0 ? 0 : positiveOf(value);
}

/** A wrong answer with a right signature. */
function alterAnswer(answer: object, fault: SupplierFault | undefined): object {
  if (fault === 'wrong-claim') return { ...answer, claimNo: 'C1' };
  return fault === 'bad-code' ? { ...answer, code: 'two\nlines' } : answer;
}
