import { escapeInvisible } from '../platform/escape-invisible.js';
import { redactSecrets } from '../platform/log/log.js';
import { type AlertSeverity, severityOf } from './alerts-sql.js';
import type { AlertGroup, AlertNews, ReportedAlert } from './messages-sql.js';

/** The payload of a webhook, and the source of a mail. docs/alerts.md shows an example. */
export interface AlertMessage {
  readonly type: 'alert.opened' | 'alert.still-open' | 'alert.resolved' | 'alert.test' | 'audit.head';
  /** A summary in one line. */
  readonly text: string;
  readonly kind: string;
  /** Unset in messages that are not about alerts. */
  readonly severity?: AlertSeverity;
  /** The number of alerts that the message is about. If there are many, `alerts` lists only the first alerts. */
  readonly count: number;
  readonly alerts: readonly ReportedAlert[];
  readonly environment: string;
  /** The address of the service, because several services may send to the same operators. */
  readonly service: string;
  /** The addresses that did not get the message yet, if the mail server refused some of them. */
  readonly onlyTo?: readonly string[];
  /** The end of the audit log, in a message of the type audit.head. */
  readonly head?: object;
}

export interface AlertSender {
  readonly environment: string;
  readonly service: string;
}

const TYPES: Readonly<Record<AlertNews, AlertMessage['type']>> = {
  OPEN: 'alert.opened',
  STILL_OPEN: 'alert.still-open',
  RESOLVED: 'alert.resolved',
};

const STATES: Readonly<Record<AlertNews, string>> = { OPEN: '', STILL_OPEN: ' (still open)', RESOLVED: ' (resolved)' };

/** Limited, because a detail may quote a long text of an institution or a supplier. */
const MAX_DETAIL_LENGTH = 500;

export function createAlertMessage({ kind, what, count, alerts }: AlertGroup, sender: AlertSender): AlertMessage {
  const [first] = alerts;
  const severity = severityOf(kind);
  const about = count === 1 ? `about ${first?.subject ?? ''}` : `${count} alerts`;
  return {
    type: TYPES[what],
    text: escapeInvisible(`[${severity}] ${kind}: ${about}${STATES[what]}`),
    kind,
    severity,
    count,
    alerts: alerts.map((alert) => ({ ...alert, detail: redactSecrets(alert.detail).slice(0, MAX_DETAIL_LENGTH) })),
    ...sender,
  };
}

export function createTestMessage(sender: AlertSender): AlertMessage {
  return { type: 'alert.test', text: 'test: alerts reach you', kind: 'test', count: 0, alerts: [], ...sender };
}

export function createAuditHeadMessage(head: { readonly chainNo: number }, sender: AlertSender): AlertMessage {
  const text = `audit log: ${head.chainNo} entries`;
  return { type: 'audit.head', text, kind: 'audit-head', count: 0, alerts: [], head, ...sender };
}

/** Formats the text of a mail. External texts are escaped and kept on one line. */
export function toMailText({ text, kind, count, alerts, environment, service }: AlertMessage): string {
  const lines = alerts.flatMap(({ subject, detail, seen, firstSeenAt, lastSeenAt, resolvedBecause }) => [
    `${escapeInvisible(subject)}: ${escapeInvisible(resolvedBecause ?? detail)}`,
    `    seen ${seen === 1 ? 'once' : `${seen} times`}, first ${firstSeenAt}, last ${lastSeenAt} (UTC+8)`,
  ]);
  return [
    text,
    '',
    ...lines,
    ...(count > alerts.length ? [`and ${count - alerts.length} more`] : []),
    '',
    ...(kind === 'test' ? [] : ['perennial alert list shows what is open; docs/alerts.md says what to do.']),
    `${environment}, ${service}`,
    '',
  ].join('\n');
}
