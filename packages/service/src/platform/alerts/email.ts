import { once } from 'node:events';
import { domainToASCII } from 'node:url';
import { createTransport } from 'nodemailer';
import { mailText } from './message.js';
import { type AlertWay, NotTaken, NotTakenBy, plainReason, SENDING_MS } from './way.js';

export interface EmailSettings {
  /** smtp:// or smtps://, with user and password where the server wants them. */
  readonly url: string;
  readonly from: string;
  readonly to: readonly string[];
}

/** Taken means taken by the mail server, for each of the people. */
export function emailWay({ url, from, to }: EmailSettings): AlertWay {
  const transport = createTransport({
    requireTLS: wouldTellPassword(url),
    // What it says itself goes before the line above.
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
      // Whoever is not written to any more has nothing to wait for.
      const people = to.filter((address) => message.onlyTo?.includes(address) ?? true);
      if (people.length === 0) return;
      const limit = AbortSignal.timeout(SENDING_MS);
      const aborted = once(signal ? AbortSignal.any([limit, signal]) : limit, 'abort').then(() =>
        limit.throwIfAborted(),
      );
      try {
        const sending = transport.sendMail({
          from,
          to: [...people],
          subject: `[Perennial ${message.environment}] ${message.text}`,
          text: mailText(message),
          // The same when it is sent again, so that a mailbox can tell.
          messageId: `<alert-${messageId}@${hostOf(message.service)}>`,
          headers: { 'Auto-Submitted': 'auto-generated' },
        });
        const sent = await Promise.race([sending, aborted]);
        if (!sent) throw new NotTaken('the node is stopping');
        if (sent.rejected.length > 0) {
          const takers = new Set(sent.accepted.map(String).map(asSent));
          const others = people.filter((address) => !takers.has(asSent(address)));
          throw new NotTakenBy(others, statusesOf(sent.rejectedErrors));
        }
      } catch (error) {
        if (error instanceof NotTaken) throw error;
        const refusals = error instanceof Error && 'rejectedErrors' in error ? error.rejectedErrors : undefined;
        if (Array.isArray(refusals)) throw new NotTakenBy(people, statusesOf(refusals));
        throw new NotTaken(smtpReason(error));
      }
    },
    close: async () => transport.close(),
  };
}

function hostOf(service: string): string {
  return URL.canParse(service) ? new URL(service).hostname.replace(/[^\w.-]/g, '') : 'perennial';
}

/** smtp:// is encrypted only if the server offers it, and whoever is in between can leave that out. */
function wouldTellPassword(url: string): boolean {
  const { protocol, password, hostname } = new URL(url);
  const isThisMachine = hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
  return protocol === 'smtp:' && password !== '' && !isThisMachine;
}

/** An address as the mailer spells it. */
function asSent(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  const domain = address.slice(at);
  return address.slice(0, at) + (domainToASCII(domain) || domain.toLowerCase());
}

/** The server's own words may repeat who was to log in or to be written to: only its number is kept. */
function smtpReason(error: unknown): string {
  const reason = plainReason(error);
  return `${reason === 'ETLS' ? 'ETLS: no TLS to the mail server' : reason}${statusesOf([error])}`;
}

function statusesOf(errors: readonly unknown[] = []): string {
  const statuses = errors.flatMap((error) =>
    error instanceof Error && 'responseCode' in error && typeof error.responseCode === 'number'
      ? [error.responseCode]
      : [],
  );
  return statuses.length === 0 ? '' : ` (SMTP ${[...new Set(statuses)].join(', ')})`;
}
