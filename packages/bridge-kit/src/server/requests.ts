import { type Fields, fieldsOf, MAX_TEXT_LENGTH, numberOf, positiveOf, textOf, timeOf } from '@perennial/wire/bridge';
import type { Card, Debit } from '../institution.js';
import { BadMessage, requireField } from './refusals.js';

const number = (fields: Fields, name: string) => requireField(numberOf(fields[name]), name);
const text = (fields: Fields, name: string) => requireField(textOf(fields[name], MAX_TEXT_LENGTH), name);
const cents = (fields: Fields) => requireField(positiveOf(fields['amountCent']), 'amountCent');

/** The largest cycleNo that the book's column can hold. */
const MAX_CYCLE = 2 ** 31 - 1;
function cycleOf(value: unknown): number | undefined {
  const cycleNo = positiveOf(value);
  return cycleNo !== undefined && cycleNo <= MAX_CYCLE ? cycleNo : undefined;
}

function requireSameKey(given: string | undefined, number: string, name: string): void {
  if (given !== number) throw new BadMessage(`header Idempotency-Key must be the ${name}`);
}

/** The service's query for a debit: all fields except the agreement. */
export type DebitQuestion = Omit<Debit, 'institutionNo'>;

export function readDebitQuestion(fields: Fields): DebitQuestion {
  return {
    attemptNo: number(fields, 'attemptNo'),
    appId: numberOf(fields['appId']),
    amountCent: cents(fields),
    orderNo: number(fields, 'orderNo'),
    cycleNo: requireField(cycleOf(fields['cycleNo']), 'cycleNo'),
    externalOrderNo: text(fields, 'externalOrderNo'),
    startedAt: requireField(timeOf(fields['startedAt']), 'startedAt'),
  };
}

export function readDebit(fields: Fields, idempotencyKey: string | undefined): Debit {
  const debit = { ...readDebitQuestion(fields), institutionNo: text(fields, 'institutionNo') };
  requireSameKey(idempotencyKey, debit.attemptNo, 'attemptNo');
  return debit;
}

export interface AskedRefund {
  readonly refundNo: string;
  readonly attemptNo: string;
  readonly amountCent: number;
}

export function readRefund(fields: Fields, idempotencyKey: string | undefined): AskedRefund {
  const refundNo = readRefundNo(fields);
  requireSameKey(idempotencyKey, refundNo, 'refundNo');
  return { refundNo, attemptNo: number(fields, 'attemptNo'), amountCent: cents(fields) };
}

export const readRefundNo = (fields: Fields): string => number(fields, 'refundNo');

export function readCancellation(fields: Fields): string {
  number(fields, 'agreementNo');
  return text(fields, 'institutionNo');
}

export function readStatementPage(fields: Fields): { readonly day: string; readonly cursor: string | undefined } {
  const { day, cursor = null } = fields;
  if (typeof day !== 'string' || !isDay(day)) throw new BadMessage('day must be a day, as yyyy-MM-dd');
  return { day, cursor: cursor === null ? undefined : text(fields, 'cursor') };
}

/** Returns whether the text is a day that exists in the calendar. February 30 does not exist. */
function isDay(text: string): boolean {
  const start = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(start) && new Date(start).toISOString().startsWith(text);
}

export function readBindCode(fields: Fields): {
  readonly bindOrderNo: string;
  readonly bankCode: string | undefined;
  readonly card: Card;
} {
  const card = requireField(fieldsOf(fields['card']), 'card');
  return {
    bindOrderNo: number(fields, 'bindOrderNo'),
    bankCode: textOf(fields['bankCode'], MAX_TEXT_LENGTH),
    card: {
      bankCardNo: text(card, 'bankCardNo'),
      certificateNo: text(card, 'certificateNo'),
      certType: text(card, 'certType'),
      realName: text(card, 'realName'),
      bankMobile: text(card, 'bankMobile'),
    },
  };
}

export function readBindConfirm(fields: Fields): {
  readonly bindOrderNo: string;
  readonly reference: string | undefined;
  readonly smsCode: string;
} {
  return {
    bindOrderNo: number(fields, 'bindOrderNo'),
    reference: textOf(fields['reference'], MAX_TEXT_LENGTH),
    smsCode: text(fields, 'smsCode'),
  };
}
