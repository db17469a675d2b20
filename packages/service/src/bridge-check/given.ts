import type { Fields, WireDecline } from '@perennial/wire/bridge';
import type { Clock } from '../platform/clock.js';
import type { PeerAccess } from '../platform/http-client/peer-access.js';

export interface Deadlines {
  readonly debit: number;
  readonly other: number;
}

/** The options of a run. */
export interface Given {
  readonly url: string;
  readonly key: Uint8Array;
  readonly clock: Clock;
  readonly appId: string;
  /** Prefix of every number of the run. It must be new in each run, so that no number was used before. */
  readonly prefix: string;
  readonly amountCent: number;
  /** Currency of every amount. */
  readonly currency: string;
  /** An agreement on which debits succeed, immediately or after a while. */
  readonly agreement?: string;
  /** Agreements whose debits are declined, by the kind of decline. */
  readonly declines: Readonly<Partial<Record<WireDecline, string>>>;
  /** An agreement whose debits are PENDING first. */
  readonly pending?: string;
  /** An agreement that belongs to another channel than `appId`. */
  readonly foreign?: string;
  /** An agreement that the check is allowed to cancel. */
  readonly cancelAgreement?: string;
  /** Sent as `card` of /bind-code. */
  readonly card?: Fields;
  readonly bankCode?: string;
  readonly smsCode?: string;
  readonly wrongSmsCode?: string;
  /**
   * A past day. Its statement is read instead of the statements of the days on which the run takes place. For a bridge
   * that has no statement of today yet.
   */
  readonly statementDay?: string;
  readonly restart?: () => Promise<void>;
  /** Where to listen for notices. */
  readonly listen?: { readonly port: number; readonly host: string };
  /** How long to wait for results and notices of pending debits. */
  readonly waitMs: number;
  readonly deadlines: Deadlines;
  /** Default: no client certificate, the certificate authorities of Node, no proxy. */
  readonly peers?: PeerAccess;
  readonly progress: (line: string) => void;
}
