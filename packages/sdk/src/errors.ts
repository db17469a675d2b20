import { CODES, type CodeName, findResultCode } from '@perennial/wire';
import { readHint, type SignatureDiagnosis } from './diagnosis.js';
import { usePlainNames } from './fields.js';

/** The names of the result codes, and UNKNOWN_CODE for codes that this version does not know. */
export type ErrorName = Exclude<CodeName, 'SUCCESS'> | 'UNKNOWN_CODE';

/** What is known of a refusal by the service. `mistakes` is from the header X-SVC-Diagnosis. */
export type ErrorFacts = Pick<
  PerennialError,
  'endpoint' | 'code' | 'message' | 'httpStatus' | 'requestId' | 'attempts'
> &
  Partial<Pick<PerennialError, 'diagnosis' | 'idempotencyKey' | 'retryAfterMs'>> & { mistakes?: readonly string[] };

/** Result codes, besides those with HTTP 5xx, after which the same request may succeed later. */
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

/** Thrown if the service answered with a refusal. */
export class PerennialError<Name extends ErrorName = ErrorName> extends Error {
  /** The name of the result code. Decide by this name or by `code`, never by the message. */
  override readonly name: Name;
  readonly code: string;
  /** The service's own message. It has the service's field names: `mobileEncrypted` for your `mobile`. */
  readonly serviceMessage: string;
  readonly httpStatus: number;
  readonly requestId: string;
  readonly endpoint: string;
  readonly attempts: number;
  /** True if the same request may succeed later. */
  readonly retryable: boolean;
  /** The idempotency key of the request. A retry with this key is safe. Undefined for reads. */
  readonly idempotencyKey: string | undefined;
  /** The delay that the service asked for before a retry. */
  readonly retryAfterMs: number | undefined;
  /** The sandbox's unchanged diagnosis of the signature or the timestamp. The message explains it. */
  readonly diagnosis: SignatureDiagnosis | undefined;

  constructor(facts: ErrorFacts) {
    super(messageOf(facts));
    // The result code is known only at runtime, so the type is asserted. isPerennialError checks the name for callers.
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

/** Returns true if the error is a refusal with one of these names, or any refusal if no name is given. */
export function isPerennialError<Name extends ErrorName = ErrorName>(
  error: unknown,
  ...names: readonly Name[]
): error is PerennialError<Name> {
  if (!(error instanceof PerennialError)) return false;
  return names.length === 0 || names.some((name) => name === error.name);
}

/** Why there is no usable response. */
export type ConnectionFailure =
  /** No response within the timeout. */
  | 'timeout'
  /** The connection could not be opened, or it broke. */
  | 'connection'
  /**
   * The response is not from the service but, for example, from a proxy. Or the server speaks HTTP instead of HTTPS.
   */
  | 'unreadable-answer';

export type ConnectionFacts = Pick<
  PerennialConnectionError,
  'endpoint' | 'reason' | 'message' | 'requestId' | 'attempts'
> &
  Partial<Pick<PerennialConnectionError, 'idempotencyKey' | 'httpStatus'>> & { readonly cause?: unknown };

/**
 * Thrown if there is no usable response. The request may have been executed: to find out, repeat it with the same
 * idempotencyKey.
 */
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
  // Replaces the service's own message, which is for clients that sign requests themselves.
  if (hint !== undefined) return `${CODES.SIGNATURE_INVALID.message}. Likely ${hint}`;
  return message === '' ? (findResultCode(code)?.message ?? `code ${code}`) : usePlainNames(message);
}
