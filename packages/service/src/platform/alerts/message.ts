import { withoutSecrets } from '../log/log.js';
import { visible } from '../visible.js';
import type { ToldAlert, ToTell, What } from './messages-sql.js';

/** What a receiver is told: the body of a webhook, and what a mail is written from. docs/operations.md shows one. */
export interface AlertMessage {
  readonly type: 'alert.opened' | 'alert.still-open' | 'alert.resolved' | 'alert.test';
  /** One line for people. */
  readonly text: string;
  readonly kind: string;
  /** How many alerts it is about; `alerts` has the first of them. */
  readonly count: number;
  readonly alerts: readonly ToldAlert[];
  readonly environment: string;
  /** Where the service is reached: several may tell the same people. */
  readonly service: string;
  /** Of a mail that some have taken: those who have not. */
  readonly onlyTo?: readonly string[];
}

export interface Sender {
  readonly environment: string;
  readonly service: string;
}

const TYPES: Readonly<Record<What, AlertMessage['type']>> = {
  OPEN: 'alert.opened',
  STILL_OPEN: 'alert.still-open',
  RESOLVED: 'alert.resolved',
};

const STATES: Readonly<Record<What, string>> = { OPEN: '', STILL_OPEN: ' (still open)', RESOLVED: ' (resolved)' };

/** A detail may repeat what an institution or a supplier has said. */
const LONGEST_DETAIL = 500;

export function alertMessage({ kind, what, count, alerts }: ToTell, sender: Sender): AlertMessage {
  const [first] = alerts;
  const about = count === 1 ? `about ${first?.subject ?? ''}` : `${count} alerts`;
  return {
    type: TYPES[what],
    text: visible(`${kind}: ${about}${STATES[what]}`),
    kind,
    count,
    alerts: alerts.map((alert) => ({ ...alert, detail: withoutSecrets(alert.detail).slice(0, LONGEST_DETAIL) })),
    ...sender,
  };
}

export function testMessage(sender: Sender): AlertMessage {
  return { type: 'alert.test', text: 'test: alerts reach you', kind: 'test', count: 0, alerts: [], ...sender };
}

/** The lines of a mail. What came from outside is on one line, and nothing in it is obeyed. */
export function mailText({ text, kind, count, alerts, environment, service }: AlertMessage): string {
  const lines = alerts.flatMap(({ subject, detail, seen, firstSeenAt, lastSeenAt, resolvedBecause }) => [
    `${visible(subject)}: ${visible(resolvedBecause ?? detail)}`,
    `    seen ${seen === 1 ? 'once' : `${seen} times`}, first ${firstSeenAt}, last ${lastSeenAt} (UTC+8)`,
  ]);
  return [
    text,
    '',
    ...lines,
    ...(count > alerts.length ? [`and ${count - alerts.length} more`] : []),
    '',
    ...(kind === 'test' ? [] : ['npx perennial alert list shows what is open; docs/operations.md says what to do.']),
    `${environment}, ${service}`,
    '',
  ].join('\n');
}
