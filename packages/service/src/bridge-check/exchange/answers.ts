import { maskCardNumbers } from '@perennial/wire';
import {
  DECLINES,
  type Fields,
  MAX_TEXT_LENGTH,
  numberOf,
  type Operation,
  positiveOf,
  textOf,
  timeOf,
} from '@perennial/wire/bridge';
import type { RuleName } from '../rules.js';

type FieldForm = (value: unknown) => boolean;

const cents: FieldForm = (value) => positiveOf(value) !== undefined;
const time: FieldForm = (value) => timeOf(value) !== undefined;
const number: FieldForm = (value) => numberOf(value) !== undefined;
const numberOrNone: FieldForm = (value) => value === undefined || value === null || number(value);
const text: FieldForm = (value) => textOf(value, MAX_TEXT_LENGTH) !== undefined;
const textOrNone: FieldForm = (value) => value === undefined || value === null || text(value);
const reason: FieldForm = (value) => typeof value === 'string';

type Form = Readonly<Record<string, FieldForm>>;
type Words = Readonly<Record<string, Form>>;

const oneOf =
  (...words: readonly string[]): FieldForm =>
  (value) =>
    words.some((one) => one === value);

export const LINE: Form = {
  kind: oneOf('DEBIT', 'REFUND'),
  number,
  amountCent: cents,
  status: oneOf('SUCCESS', 'FAIL', 'PENDING'),
  bookedAt: time,
  institutionRef: number,
};

const DEBIT: Words = {
  SUCCESS: { amountCent: cents, paidAt: time, institutionRef: number },
  DECLINED: { decline: oneOf(...DECLINES), reason },
  PENDING: {},
};
const REFUND: Words = {
  SUCCESS: { amountCent: cents, refundedAt: time, institutionRef: numberOrNone },
  REFUSED: { reason },
  PENDING: {},
};

interface AnswerForm {
  /** The field that repeats the number of the request. */
  readonly number?: 'attemptNo' | 'refundNo';
  readonly words: Words;
}

/** The statuses of each operation, and the fields of each status. Statements and handshakes have no status. */
const ANSWERS: Readonly<Record<Exclude<Operation, 'statement' | 'handshake'>, AnswerForm>> = {
  'bind-code': { words: { SENT: { reference: textOrNone }, NOT_SENT: { reason } } },
  'bind-confirm': { words: { BOUND: { institutionNo: text }, WRONG_CODE: { reason }, REFUSED: { reason } } },
  debit: { number: 'attemptNo', words: DEBIT },
  'debit-query': { number: 'attemptNo', words: { ...DEBIT, NOT_FOUND: {} } },
  refund: { number: 'refundNo', words: REFUND },
  'refund-query': { number: 'refundNo', words: { ...REFUND, NOT_FOUND: {} } },
  'agreement-cancel': { words: { CANCELED: {}, REFUSED: { reason } } },
};

export interface Flaw {
  readonly rule: RuleName;
  readonly seen: string;
}

const MAX_SHOWN = 60;

/** Formats a value of an answer for display: shortened, and without card numbers. */
export function show(value: unknown): string {
  const shown = value === undefined ? 'nothing' : (JSON.stringify(value) ?? String(value));
  const masked = maskCardNumbers(shown);
  return masked.length <= MAX_SHOWN ? masked : `${masked.slice(0, MAX_SHOWN)}…`;
}

/** Returns the flaw that keeps the service from using an answer, if any. */
export function findFlaw(operation: Operation, fields: Fields, asked: Fields): Flaw | undefined {
  if (operation === 'statement' || operation === 'handshake') return undefined;
  const form = ANSWERS[operation];
  const repeated = form.number === undefined ? undefined : fields[form.number];
  if (form.number !== undefined && repeated !== asked[form.number]) {
    return { rule: 'answer-number', seen: `/${operation} answered ${form.number} ${show(repeated)}` };
  }
  const word = fields['status'];
  const wanted = typeof word === 'string' && Object.hasOwn(form.words, word) ? form.words[word] : undefined;
  if (wanted === undefined) return { rule: 'answer-status', seen: `/${operation} answered status ${show(word)}` };
  const wrong = findWrongField(fields, wanted);
  if (wrong === undefined) return undefined;
  const rule = wrong === 'decline' ? 'answer-status' : 'answer-fields';
  return { rule, seen: `/${operation} answered ${String(word)} with ${wrong} ${show(fields[wrong])}` };
}

export function findWrongField(fields: Fields, form: Form): string | undefined {
  return Object.keys(form).find((name) => !form[name]?.(fields[name]));
}
