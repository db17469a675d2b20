import type { Fields, WireDecline } from '@perennial/wire/bridge';
import type { Clock } from '../platform/clock.js';

export interface Deadlines {
  readonly debit: number;
  readonly other: number;
}

/** What the bridge is tried with. */
export interface Given {
  readonly url: string;
  readonly key: Uint8Array;
  readonly clock: Clock;
  readonly appId: string;
  /** Begins every number of the run, so that none was used before. */
  readonly prefix: string;
  readonly amountCent: number;
  /** Of every amount. */
  readonly currency: string;
  /** One that debits succeed on, at once or after a while. */
  readonly agreement?: string;
  /** Agreements whose debits are declined, by the kind of decline. */
  readonly declines: Readonly<Partial<Record<WireDecline, string>>>;
  /** One whose debits are PENDING first. */
  readonly pending?: string;
  /** One that belongs to another channel than appId. */
  readonly foreign?: string;
  /** One that may be canceled. */
  readonly cancelAgreement?: string;
  /** As `card` of /bind-code. */
  readonly card?: Fields;
  readonly bankCode?: string;
  readonly smsCode?: string;
  readonly wrongSmsCode?: string;
  /** A day that is over, if the statement of today is not there yet. */
  readonly statementDay?: string;
  /** Restarts the bridge. */
  readonly restart?: () => Promise<void>;
  /** The port for notices. */
  readonly listen?: { readonly port: number; readonly host: string };
  /** How long results and notices of pending debits are waited for. */
  readonly waitMs: number;
  readonly deadlines: Deadlines;
  readonly progress: (line: string) => void;
}
