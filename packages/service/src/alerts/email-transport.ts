import { once } from 'node:events';
import { domainToASCII } from 'node:url';
import { createTransport } from 'nodemailer';
import type { Settings } from '../platform/settings.js';
import { toMailText } from './message.js';
import { AlertNotTaken, AlertRefusedFor, type AlertTransport, describeFailure, MAX_SENDING_MS } from './transport.js';

export type EmailSettings = NonNullable<Settings['alertEmail']>;

/** Sends alerts by mail. A message counts as sent once the mail server has accepted it for every address. */
export function createEmailTransport({ url, from, to }: EmailSettings): AlertTransport {
  const transport = createTransport({
    requireTLS: mustEncrypt(url),
    // Options in the URL override requireTLS above.
    url,
    connectionTimeout: MAX_SENDING_MS / 2,
    greetingTimeout: MAX_SENDING_MS / 2,
    socketTimeout: MAX_SENDING_MS / 2,
    // Messages are plain text, so the mailer needs neither files nor URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    way: 'EMAIL',
    async send(messageId, message, signal) {
      // Skips addresses that were removed from the settings.
      const people = to.filter((address) => message.onlyTo?.includes(address) ?? true);
      if (people.length === 0) return;
      const limit = AbortSignal.timeout(MAX_SENDING_MS);
      const aborted = once(signal ? AbortSignal.any([limit, signal]) : limit, 'abort').then(() =>
        limit.throwIfAborted(),
      );
      try {
        const sending = transport.sendMail({
          from,
          to: [...people],
          subject: `[Perennial ${message.environment}] ${message.text}`,
          text: toMailText(message),
          // The same id for every attempt, so that mailboxes can recognize duplicates.
          messageId: `<alert-${messageId}@${messageHost(message.service)}>`,
          headers: { 'Auto-Submitted': 'auto-generated' },
        });
        const sent = await Promise.race([sending, aborted]);
        if (!sent) throw new AlertNotTaken('the node is stopping');
        if (sent.rejected.length > 0) {
          const takers = new Set(sent.accepted.map(String).map(spellAddress));
          const others = people.filter((address) => !takers.has(spellAddress(address)));
          throw new AlertRefusedFor(others, smtpStatuses(sent.rejectedErrors));
        }
      } catch (error) {
        if (error instanceof AlertNotTaken) throw error;
        const refusals = error instanceof Error && 'rejectedErrors' in error ? error.rejectedErrors : undefined;
        if (Array.isArray(refusals)) throw new AlertRefusedFor(people, smtpStatuses(refusals));
        throw new AlertNotTaken(describeSmtpFailure(error));
      }
    },
    close: async () => transport.close(),
  };
}

function messageHost(service: string): string {
  return URL.canParse(service) ? new URL(service).hostname.replace(/[^\w.-]/g, '') : 'perennial';
}

/**
 * Returns true if TLS is required. An smtp:// connection is encrypted only if the server offers encryption. An attacker
 * between client and server can remove the offer and read the password.
 */
function mustEncrypt(url: string): boolean {
  const { protocol, password, hostname } = new URL(url);
  const isThisMachine = hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
  return protocol === 'smtp:' && password !== '' && !isThisMachine;
}

/** Spells the domain as the mailer does: in lower case, with non-ASCII names encoded. */
function spellAddress(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  const domain = address.slice(at);
  return address.slice(0, at) + (domainToASCII(domain) || domain.toLowerCase());
}

/** Returns only codes and the SMTP status, because the server's text may contain a user name or an address. */
function describeSmtpFailure(error: unknown): string {
  const reason = describeFailure(error);
  return `${reason === 'ETLS' ? 'ETLS: no TLS to the mail server' : reason}${smtpStatuses([error])}`;
}

function smtpStatuses(errors: readonly unknown[] = []): string {
  const statuses = errors.flatMap((error) =>
    error instanceof Error && 'responseCode' in error && typeof error.responseCode === 'number'
      ? [error.responseCode]
      : [],
  );
  return statuses.length === 0 ? '' : ` (SMTP ${[...new Set(statuses)].join(', ')})`;
}
