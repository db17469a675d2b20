/** Why an event is not taken. */
export type WebhookFault =
  /** One of the four signing headers is not there. */
  | 'missing-header'
  /** One of them has not the form it must have, or came twice. */
  | 'malformed-header'
  /** A parsed object was given, where the bytes are needed that came. */
  | 'body-was-parsed'
  /** There is no body at all, where the bytes are needed that came. */
  | 'missing-body'
  | 'signature-mismatch'
  /** Signed rightly, but too long ago or too far ahead. */
  | 'stale-timestamp'
  | 'not-json'
  /** Nested more deeply than any event. */
  | 'too-deep'
  /** The id in the header, which is signed, is not the one in the body. */
  | 'event-id-mismatch'
  /** Without what every event has: a type and data. */
  | 'not-an-event'
  /** Genuine, but the aesKey does not fit. */
  | 'cannot-decrypt';

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly reason: WebhookFault;

  constructor(reason: WebhookFault, message: string) {
    super(message);
    this.reason = reason;
  }
}
