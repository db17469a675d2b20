/**
 * A row of a table that maps a channel's input to an outcome in the sandbox. The first matching row decides. Rows about
 * externalOrderNo apply only to the first period, because the simulated institution never declines renewals.
 */
export interface Trigger<Outcome extends string> {
  readonly when: RegExp;
  readonly outcome: Outcome;
}

export const BIND_CODE_TRIGGERS: readonly Trigger<'sent' | 'not-sent'>[] = [
  { when: /9$/, outcome: 'not-sent' }, // the bank mobile's last digit
  { when: /(?:)/, outcome: 'sent' },
];

export const BIND_CONFIRM_TRIGGERS: readonly Trigger<'bound' | 'refused'>[] = [
  { when: /^000000$/, outcome: 'refused' }, // the code
  { when: /(?:)/, outcome: 'bound' },
];

export const FIRST_DEBIT_TRIGGERS: readonly Trigger<'final' | 'retryable' | 'pending' | 'success'>[] = [
  { when: /_FAIL$/, outcome: 'final' }, // externalOrderNo's end
  { when: /_FAIL_RETRY$/, outcome: 'retryable' },
  { when: /_PENDING$/, outcome: 'pending' },
  { when: /(?:)/, outcome: 'success' },
];

export const PENDING_MS = 30_000;

export function findTriggeredOutcome<Outcome extends string>(rows: readonly Trigger<Outcome>[], text: string): Outcome {
  const row = rows.find(({ when }) => when.test(text));
  if (!row) throw new Error('a trigger table must end with a row for everything else');
  return row.outcome;
}
