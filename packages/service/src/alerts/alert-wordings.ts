import { createWordings, type Said } from '../platform/wordings.js';
import type { AlertKind } from './alerts-sql.js';

/**
 * Texts of alerts by kind. A suffix after the bar marks a variant, or the reason for resolving. If an institution or a
 * supplier gave a text, the alert shows that text instead.
 */
const SENTENCES = {
  'debit-unknown-for-a-day': ['the result is still {1}', 'still {1}'],
  'debit-unknown-for-a-day|not-asked': ['the institution cannot be queried', 'cannot be asked about'],
  'debit-unknown-for-a-day|resolved': 'the debit has a result',
  'debit-wrong-amount': ['requested {1}, debited {2}', 'asked for {1}, debited {2}'],
  'debit-wrong-amount|resolved': 'the debit was settled by a later report',
  'debit-late-success': 'settled as {1}, later reported as {2}',
  'debit-contradiction': 'settled as {1}, later reported as {2}',
  'debit-after-unsubscribe': 'the order was unsubscribed while it was debited',
  'debit-after-unsubscribe|resolved': 'the period was refunded in full',
  'refund-unknown-for-a-day': ['the result is still {1}', 'still {1}'],
  'refund-unknown-for-a-day|not-settled': ['the result cannot be stored', 'cannot be settled'],
  'refund-unknown-for-a-day|resolved': 'the refund has a result',
  'refund-wrong-amount': ['requested {1}, refunded {2}', 'asked for {1}, refunded {2}'],
  'refund-wrong-amount|resolved': 'the refund was settled by a later report',
  'refund-refused|resolved': [
    'a later refund of the period has succeeded, or was made outside the service',
    'a later refund of the period has succeeded',
  ],
  'refund-contradiction': 'settled as {1}, later reported as {2}',
  'billing-failed': 'the database refuses the period: {1}',
  'billing-failed|resolved': [
    'the period was stored, or the order has ended',
    'the period was written, or the order has ended',
  ],
  'upcoming-notice-failed': 'the database refuses the event: {1}',
  'upcoming-notice-failed|resolved': [
    'the event was stored, or is no longer due',
    'the event was written, or is not to be sent any more',
  ],
  'notice-for-unknown-attempt': ['sent by {1}', 'from {1}'],
  'notice-for-unknown-agreement': ['sent by {1}', 'from {1}'],
  'agreement-cancel-failed': ['the institution did not answer', 'no answer'],
  'agreement-cancel-failed|not-asked': ['the institution cannot be called', 'it cannot be asked for'],
  'agreement-cancel-failed|resolved': ['the institution has canceled the agreement', 'the institution has canceled it'],
  'agreement-number-of-another-channel': 'shared at {1}',
  'agreement-number-of-another-channel|in-force': 'shared at {1}, in force as {2} of {3}',
  'agreement-number-of-another-channel|resolved':
    'no other channel has the number in force any more, or it may be shared',
  'order-number-of-another-channel': 'both channels use the same externalOrderNo: the second order was refused',
  'webhook-given-up': ['{1} events given up together', '{1} given up at once'],
  'webhook-given-up|resolved': ['no event is given up any more', 'nothing of what was given up is left'],
  'webhook-failing': '{1} has accepted no push since {2}: {3} pushes have failed',
  'webhook-failing|resolved': 'a push was accepted, or the address was replaced or paused',
  'pool-empty': 'claims wait for codes to be imported',
  'pool-empty|resolved': 'every claim has its code',
  'pool-low': '{1} codes are left, fewer than {2}',
  'pool-low|resolved': [
    'enough codes are left, no minimum is set, or claims wait for codes',
    'enough codes are left, or no minimum is set',
  ],
  'claim-refused|resolved': 'the claim has its code',
  'claim-unknown-for-a-day': ['the supplier has not reported a result', 'the supplier has not said what became of it'],
  'claim-unknown-for-a-day|not-asked': ['the supplier cannot be queried', 'the supplier cannot be asked'],
  'claim-unknown-for-a-day|resolved': 'the claim has its code',
  'reconciliation-difference': 'open: {1}',
  'reconciliation-difference|resolved': 'every difference of the day is closed',
  'reconciliation-failed': ['see the log for the reason', 'the log says why'],
  'reconciliation-failed|resolved': ['the day was reconciled', 'the day was compared'],
  'undecryptable-fields': [
    '{1} encrypted fields could not be decrypted within a minute',
    '{1} encrypted fields within a minute could not be read',
  ],
  'sign-in-failures': '{1} failed sign-ins within a minute, of {2} names, from {3} addresses',
  'no-second-admin': 'created by {1}, without the approval of a second admin',
  'no-second-admin|reset': 'reset by {1}, without the approval of a second admin',
  'institution-silent': 'no answer since {1}: {2} calls have failed',
  'institution-silent|resolved': 'the institution has answered a call',
  'institution-declining': 'since {1} all {2} debits with a result were declined',
  'institution-declining|resolved': 'a debit has succeeded',
  'database-full': [
    'writes fail with {1}: the disk is full or faulty',
    'writes fail with {1}: no room on its disk, or the disk fails',
  ],
  'database-full|resolved': 'every node can write again',
  'clock-wrong': 'the clock of the node differs by {1} s from the clock of the database',
  'clock-wrong|resolved': 'the clock is right again, or the node has stopped',
  'bridge-currency': 'the bridge has {1}, this installation {2}',
  'bridge-currency|resolved': 'the bridge has the currency of this installation',
  'peer-refused': 'the address or the key was changed in the database: nothing is sent there',
  'peer-refused|not-https': 'the address does not start with https://: nothing is sent there',
  'audit-chain-broken': 'entry {1} or one before it was changed or removed; wrong entries: {2}',
  'audit-chain-broken|not-verified': 'the log was not verified for an hour: a session may hold a lock',
  'audit-chain-broken|unsealed': 'entry {1} has no seal; wrong entries: {2}',
  'audit-chain-broken|replaced':
    'entry {1} has a wrong seal, or the entry that was seen under this number is gone; wrong entries: {2}',
} as const satisfies Readonly<
  Partial<Record<AlertKind | `${AlertKind}|${string}`, string | readonly [string, string]>>
>;

export type AlertSentence = keyof typeof SENTENCES;
export const ALERT_SENTENCES = Object.keys(SENTENCES) as readonly AlertSentence[];

const { say, read } = createWordings(SENTENCES);

export const alertText = say;

/**
 * Parses the text of an alert. Returns null if the text is none of SENTENCES, for example if an institution or a
 * supplier wrote it.
 */
export const readAlertText = (kind: string, text: string | null): Said | null =>
  text === null ? null : read(text, (code) => code.split('|')[0] === kind);
