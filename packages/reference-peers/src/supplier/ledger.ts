import { PeerError } from '../shared/peer-error.js';

/** What one claim number stands for. */
export interface ClaimTerms {
  readonly claimNo: string;
  readonly benefitCode: string;
  readonly faceValueCent: number;
  readonly orderNo: string;
  readonly cycleNo: number;
}

/** A line of the journal. */
export type SupplierEntry =
  | ({ readonly type: 'fulfilled'; readonly at: number; readonly code: string } & ClaimTerms)
  | { readonly type: 'refused'; readonly at: number; readonly claimNo: string; readonly reason: string }
  /** A request with a known number, or one that fails: no new code. */
  | { readonly type: 'arrival'; readonly at: number; readonly claimNo: string };

export interface HandedOut extends ClaimTerms {
  readonly code: string;
  readonly at: number;
}

/** The state after all entries, replayed or new. It makes no decisions. */
export class SupplierLedger {
  readonly handedOut = new Map<string, HandedOut>();
  /** Refused so far, with the last reason. */
  readonly refused = new Map<string, string>();
  readonly arrivals = new Map<string, number>();

  apply(entry: SupplierEntry): void {
    const { type, claimNo } = entry;
    if (type === 'fulfilled') {
      if (this.handedOut.has(claimNo)) throw new PeerError(`the journal hands out two codes for ${claimNo}`);
      const { type: _type, ...handedOut } = entry;
      this.handedOut.set(claimNo, handedOut);
      this.refused.delete(claimNo);
    } else if (type === 'refused') {
      this.refused.set(claimNo, entry.reason);
    } else if (type !== 'arrival') {
      throw new PeerError('the journal holds a line that this version does not know');
    }
    this.arrivals.set(claimNo, (this.arrivals.get(claimNo) ?? 0) + 1);
  }
}
