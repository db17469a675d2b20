import { CODES, type CodeName, findResultCode } from '@perennial/wire';
import { readHint, type SignatureDiagnosis } from './diagnosis.js';
import { usePlainNames } from './fields.js';

/** The names of result codes, and one for a code that this version does not know. */
export type ErrorName = Exclude<CodeName, 'SUCCESS'> | 'UNKNOWN_CODE';

/** What the service said, and about what. `mistakes`: by the header X-SVC-Diagnosis. */
export type ErrorFacts = Pick<
  PerennialError,
  'endpoint' | 'code' | 'message' | 'httpStatus' | 'requestId' | 'attempts'
> &
  Partial<Pick<PerennialError, 'diagnosis' | 'idempotencyKey' | 'retryAfterMs'>> & { mistakes?: readonly string[] };

/** Codes that say: the same request may be answered otherwise later. */
const TEMPORARY: ReadonlySet<string> = new Set(
  (
    [
      'RATE_LIMITED',
      'SMS_TOO_FREQUENT',
      'IDEMPOTENCY_IN_PROGRESS',
      'NONCE_REUSED',
      'TOKEN_INVALID',
      'TOKEN_EXPIRED',
    ] as const
  ).map((name) => CODES[name].code),
);

/** The service has answered, and said no. */
export class PerennialError<Name extends ErrorName = ErrorName> extends Error {
  /** Which one it is: decide by this or by `code`, never by the message. */
  override readonly name: Name;
  readonly code: string;
  /** The message as the service has it, with its own names of fields: `mobileEncrypted` where yours is `mobile`. */
  readonly serviceMessage: string;
  readonly httpStatus: number;
  readonly requestId: string;
  readonly endpoint: string;
  /** How often it was sent. */
  readonly attempts: number;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** The key it was sent under: another try with the same one is safe. Undefined for what does not write. */
  readonly idempotencyKey: string | undefined;
  /** How long the service asked to wait. */
  readonly retryAfterMs: number | undefined;
  /** As the service has it; only from a sandbox, about signatures and timestamps. What it means here is in the message. */
  readonly diagnosis: SignatureDiagnosis | undefined;

  constructor(facts: ErrorFacts) {
    super(messageOf(facts));
    // What a code is called is known at runtime alone; who asks for a name has it checked by isPerennialError.
    this.name = (findResultCode(facts.code)?.name ?? 'UNKNOWN_CODE') as Name;
    this.code = facts.code;
    this.serviceMessage = facts.message;
    this.httpStatus = facts.httpStatus;
    this.requestId = facts.requestId;
    this.endpoint = facts.endpoint;
    this.attempts = facts.attempts;
    this.retryable = facts.httpStatus >= 500 || TEMPORARY.has(facts.code);
    this.idempotencyKey = facts.idempotencyKey;
    this.retryAfterMs = facts.retryAfterMs;
    this.diagnosis = facts.diagnosis;
  }
}

/** Narrows to the names that are given; without any, to whatever the service refuses with. */
export function isPerennialError<Name extends ErrorName = ErrorName>(
  error: unknown,
  ...names: readonly Name[]
): error is PerennialError<Name> {
  if (!(error instanceof PerennialError)) return false;
  return names.length === 0 || names.some((name) => name === error.name);
}

/** Why there is no answer. */
export type ConnectionFailure =
  /** None came in time. */
  | 'timeout'
  /** The connection was refused, reset or cut off. */
  | 'connection'
  /** Something answered that is not the service, such as a proxy, or not in https. */
  | 'unreadable-answer';

export type ConnectionFacts = Pick<
  PerennialConnectionError,
  'endpoint' | 'reason' | 'message' | 'requestId' | 'attempts'
> &
  Partial<Pick<PerennialConnectionError, 'idempotencyKey' | 'httpStatus'>> & { readonly cause?: unknown };

/** There is no answer: what was asked may have been done or not. The same call with the same idempotencyKey finds out. */
export class PerennialConnectionError extends Error {
  override readonly name = 'PerennialConnectionError';
  readonly reason: ConnectionFailure;
  readonly endpoint: string;
  readonly requestId: string;
  readonly attempts: number;
  readonly idempotencyKey: string | undefined;
  readonly httpStatus: number | undefined;

  constructor(facts: ConnectionFacts) {
    super(facts.message, facts.cause === undefined ? {} : { cause: facts.cause });
    this.reason = facts.reason;
    this.endpoint = facts.endpoint;
    this.requestId = facts.requestId;
    this.attempts = facts.attempts;
    this.idempotencyKey = facts.idempotencyKey;
    this.httpStatus = facts.httpStatus;
  }
}

function messageOf({ code, message, mistakes = [] }: ErrorFacts): string {
  const hint = readHint(code, mistakes);
  // What the service says then is for somebody who signs by himself.
  if (hint !== undefined) return `${CODES.SIGNATURE_INVALID.message}. Likely ${hint}`;
  return message === '' ? (findResultCode(code)?.message ?? `code ${code}`) : usePlainNames(message);
}
