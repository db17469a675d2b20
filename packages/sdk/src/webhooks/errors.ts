/** Why an event is refused. */
export type WebhookFault =
  /** One of the four signing headers is missing. */
  | 'missing-header'
  /** A signing header is malformed or came twice. */
  | 'malformed-header'
  /** The caller passed a parsed object instead of the received bytes. */
  | 'body-was-parsed'
  /** The caller passed no body instead of the received bytes. */
  | 'missing-body'
  | 'signature-mismatch'
  /** Signed correctly, but too old or too far in the future. */
  | 'stale-timestamp'
  | 'not-json'
  /** Nested deeper than any event. */
  | 'too-deep'
  /** The signed id in the header differs from the id in the body. */
  | 'event-id-mismatch'
  /** The type or the data is missing. */
  | 'not-an-event'
  /** Authentic, but encrypted with another aesKey. */
  | 'cannot-decrypt';

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly reason: WebhookFault;

  constructor(reason: WebhookFault, message: string) {
    super(message);
    this.reason = reason;
  }
}
