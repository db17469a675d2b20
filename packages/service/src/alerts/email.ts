import { once } from 'node:events';
import { createTransport } from 'nodemailer';
import { mailText } from './message.js';
import { type AlertWay, NotTaken, plainReason, SENDING_MS } from './way.js';

export interface EmailSettings {
  /** smtp:// or smtps://, with user and password where the server wants them. */
  readonly url: string;
  readonly from: string;
  readonly to: readonly string[];
}

/** Taken means taken by the mail server. */
export function emailWay({ url, from, to }: EmailSettings): AlertWay {
  const transport = createTransport({
    url,
    connectionTimeout: SENDING_MS / 2,
    greetingTimeout: SENDING_MS / 2,
    socketTimeout: SENDING_MS / 2,
    // A message is made of texts alone.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    way: 'EMAIL',
    async send(messageId, message, signal) {
      const limit = AbortSignal.timeout(SENDING_MS);
      const aborted = once(signal ? AbortSignal.any([limit, signal]) : limit, 'abort').then(() =>
        limit.throwIfAborted(),
      );
      try {
        const sending = transport.sendMail({
          from,
          to: [...to],
          subject: `[Perennial ${message.environment}] ${message.text}`,
          text: mailText(message),
          // The same when it is sent again, so that a mailbox can tell.
          messageId: `<alert-${messageId}@${hostOf(message.service)}>`,
          headers: { 'Auto-Submitted': 'auto-generated' },
        });
        await Promise.race([sending, aborted]);
        if (signal?.aborted) throw new NotTaken('the node is stopping');
      } catch (error) {
        throw error instanceof NotTaken ? error : new NotTaken(smtpReason(error));
      }
    },
    close: async () => transport.close(),
  };
}

function hostOf(service: string): string {
  return URL.canParse(service) ? new URL(service).hostname.replace(/[^\w.-]/g, '') : 'perennial';
}

/** The server's own words may repeat who was to log in or to be written to: only its number is kept. */
function smtpReason(error: unknown): string {
  const status = error instanceof Error && 'responseCode' in error ? error.responseCode : undefined;
  return `${plainReason(error)}${typeof status === 'number' ? ` (SMTP ${status})` : ''}`;
}
