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

/**
 * Cards with which a binding gets the answers that no code and no mobile triggers. For all other cards the rows above
 * apply alone. The sandbox stores nothing, so `reference` of the sent code carries the card's behaviour to bind-confirm.
 */
const TEST_CARDS: Readonly<Record<string, TestCard>> = {
  '9999000000000001': 'one-right-code',
  '9999000000000002': 'expired-code',
  '9999000000000003': 'silent-bank',
  '9999000000000004': 'too-many-codes',
};

export type TestCard = 'one-right-code' | 'expired-code' | 'silent-bank' | 'too-many-codes';

/** The right code of the card `one-right-code`. */
export const RIGHT_CODE = '123456';

export const findTestCard = (bankCardNo: string): TestCard | undefined => TEST_CARDS[bankCardNo];

export const FIRST_DEBIT_TRIGGERS: readonly Trigger<
  'final' | 'retryable' | 'pending' | 'pending-declined' | 'success'
>[] = [
  { when: /_FAIL$/, outcome: 'final' }, // externalOrderNo's end
  { when: /_FAIL_RETRY$/, outcome: 'retryable' },
  { when: /_PENDING$/, outcome: 'pending' },
  { when: /_PENDING_DECLINED$/, outcome: 'pending-declined' },
  { when: /(?:)/, outcome: 'success' },
];

export const PENDING_MS = 30_000;

/** Applies to renewals that time travel has left without a result. All other renewals succeed. */
export const OPEN_RENEWAL_TRIGGERS: readonly Trigger<'final' | 'success'>[] = [
  { when: /_RENEWAL_DECLINED$/, outcome: 'final' },
  { when: /(?:)/, outcome: 'success' },
];

export function findTriggeredOutcome<Outcome extends string>(rows: readonly Trigger<Outcome>[], text: string): Outcome {
  const row = rows.find(({ when }) => when.test(text));
  if (!row) throw new Error('a trigger table must end with a row for everything else');
  return row.outcome;
}
