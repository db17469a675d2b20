import { once } from 'node:events';
import { domainToASCII } from 'node:url';
import { createTransport } from 'nodemailer';
import type { Settings } from '../platform/settings.js';
import { toMailText } from './message.js';
import { AlertNotTaken, AlertRefusedFor, type AlertTransport, describeFailure, MAX_SENDING_MS } from './transport.js';

export type EmailSettings = NonNullable<Settings['alertEmail']>;

/** A message counts as taken when the mail server has accepted it for every address. */
export function createEmailTransport({ url, from, to }: EmailSettings): AlertTransport {
  const transport = createTransport({
    requireTLS: mustEncrypt(url),
    // An option in the URL overrides requireTLS above.
    url,
    connectionTimeout: MAX_SENDING_MS / 2,
    greetingTimeout: MAX_SENDING_MS / 2,
    socketTimeout: MAX_SENDING_MS / 2,
    // Messages are made of text alone, so the mailer needs neither files nor URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    way: 'EMAIL',
    async send(messageId, message, signal) {
      // An address that was removed from the settings gets nothing any more.
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
          // The same when it is sent again, so that a mailbox can tell.
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
 * smtp:// is encrypted only if the server offers it, and an attacker in between can remove the offer: a password would be
 * readable.
 */
function mustEncrypt(url: string): boolean {
  const { protocol, password, hostname } = new URL(url);
  const isThisMachine = hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
  return protocol === 'smtp:' && password !== '' && !isThisMachine;
}

/** An address as the mailer spells it. */
function spellAddress(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  const domain = address.slice(at);
  return address.slice(0, at) + (domainToASCII(domain) || domain.toLowerCase());
}

/** The text of the server may repeat a user name or an address: only its status is kept. */
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
