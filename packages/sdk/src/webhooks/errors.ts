/** Why an event is refused. */
export type WebhookFault =
  /** One of the four signing headers is missing. */
  | 'missing-header'
  /** A signing header is malformed or has several values. */
  | 'malformed-header'
  /** The caller passed a parsed object instead of the received bytes. */
  | 'body-was-parsed'
  /** The caller passed no body. */
  | 'missing-body'
  | 'signature-mismatch'
  /** The signature is correct, but the timestamp is too old or too far in the future. */
  | 'stale-timestamp'
  | 'not-json'
  /** The body is nested deeper than any event. */
  | 'too-deep'
  /** The signed id in the header differs from the id in the body. */
  | 'event-id-mismatch'
  /** The event's type or data is missing or has a wrong form. */
  | 'not-an-event'
  /** The event is authentic, but its fields cannot be decrypted with this aesKey. */
  | 'cannot-decrypt';

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly reason: WebhookFault;

  constructor(reason: WebhookFault, message: string) {
    super(message);
    this.reason = reason;
  }
}
