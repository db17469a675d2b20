import { type Fields, MAX_MESSAGE_BYTES, reasonOf, textOf } from '@perennial/wire/bridge';
import type { Logger } from 'pino';
import { createBridgeClient } from '../gateways/bridge/bridge-client.js';
import type { Clock } from '../platform/clock.js';
import type { PeerAccess } from '../platform/http-client/peer-access.js';
import type { Origin } from '../platform/tracing.js';
import {
  type ClaimToFulfil,
  MAX_CODE_LENGTH,
  type NeverHeard,
  type Supplier,
  type SupplierOutcome,
  UNPRINTABLE,
} from './fulfilment.js';
import { SUPPLIER_DEADLINE_MS } from './supplier-policy.js';

const MAX_CONNECTIONS = 64;

export interface SupplierOptions {
  /** http(s)://host:port/path, without a query. */
  readonly url: string;
  /** The key shared with the supplier, 32 bytes. */
  readonly key: Uint8Array;
  readonly clock: Clock;
  readonly log?: Logger;
  readonly deadlineMs?: number;
  /** Default: no client certificate, the certificate authorities that Node trusts, no proxy. */
  readonly peers?: PeerAccess | undefined;
}

export interface AttachedSupplier extends Supplier {
  /** Interrupts calls in flight. Their outcomes are then unknown. */
  close(): Promise<void>;
}

/** Creates a supplier that speaks the protocol of docs/supplier.md. */
export function createSupplier({ url, key, clock, log, deadlineMs, peers }: SupplierOptions): AttachedSupplier {
  const client = createBridgeClient({ url, key, clock, connections: MAX_CONNECTIONS, log, peers, peer: 'supplier' });
  const call = (operation: 'fulfil' | 'fulfil-query', body: object, about: { number?: string; origin?: Origin }) =>
    client.call({
      operation,
      body,
      ...about,
      deadlineMs: deadlineMs ?? SUPPLIER_DEADLINE_MS,
      maxBytes: MAX_MESSAGE_BYTES,
    });
  return {
    kind: 'SUPPLIER',
    async fulfil({ claimNo, benefitCode, faceValueCent, orderNo, cycleNo, replaces, origin }: ClaimToFulfil) {
      const what = { claimNo, benefitCode, faceValueCent, orderNo: String(orderNo), cycleNo };
      const body = replaces === undefined ? what : { ...what, replaces };
      return readSupplierOutcome(
        await call('fulfil', body, { number: claimNo, ...(origin ? { origin } : {}) }),
        claimNo,
      );
    },
    async query({ claimNo }) {
      const answer = await call('fulfil-query', { claimNo }, {});
      return isNeverHeard(answer, claimNo) ? NEVER_HEARD : readSupplierOutcome(answer, claimNo);
    },
    close: async () => client.close(),
  };
}

const NEVER_HEARD: NeverHeard = { kind: 'never-heard' };

function isNeverHeard(answer: Fields | undefined, claimNo: string): boolean {
  return answer?.['status'] === 'UNKNOWN' && answer['claimNo'] === claimNo;
}

/**
 * Returns `unknown` for anything but a documented answer. The claim number in the answer must match: an answer with
 * another number does not concern this claim, even if it is signed correctly.
 */
function readSupplierOutcome(answer: Fields | undefined, claimNo: string): SupplierOutcome {
  if (answer?.['claimNo'] !== claimNo) return { kind: 'unknown' };
  if (answer['status'] === 'REFUSED') return { kind: 'refused', reason: reasonOf(answer['reason']) };
  const code = textOf(answer['code'], MAX_CODE_LENGTH);
  if (answer['status'] !== 'FULFILLED' || code === undefined || UNPRINTABLE.test(code)) return { kind: 'unknown' };
  return { kind: 'fulfilled', code };
}
