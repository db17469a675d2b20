import { type Operation, STATEMENT_PAGE_LINES, type StatementMessage } from '@perennial/wire/bridge';
import type { Institution } from '../institution.js';
import { Unavailable } from '../server/refusals.js';
import {
  readBindCode,
  readBindConfirm,
  readCancellation,
  readDebit,
  readDebitQuestion,
  readRefund,
  readRefundNo,
  readStatementPage,
} from '../server/requests.js';
import type { SignedRequest } from '../server/signed-server.js';
import type { Agreements } from './agreements.js';
import type { Debits } from './debits.js';
import type { Refunds } from './refunds.js';
import type { Tools } from './undertakings.js';

export interface Flows {
  readonly debits: Debits;
  readonly refunds: Refunds;
  readonly agreements: Agreements;
}

/** The eight operations: what is asked for, and who does it. */
export function createOperations(
  { debits, refunds, agreements }: Flows,
  institution: Institution,
  tools: Tools,
): (request: SignedRequest<Operation>) => Promise<object> {
  return async ({ operation, fields, idempotencyKey }) => {
    switch (operation) {
      case 'debit':
        return debits.debit(readDebit(fields, idempotencyKey));
      case 'debit-query':
        return debits.query(readDebitQuestion(fields));
      case 'refund':
        return refunds.refund(readRefund(fields, idempotencyKey));
      case 'refund-query':
        return refunds.query(readRefundNo(fields));
      case 'agreement-cancel':
        return agreements.cancel(readCancellation(fields));
      case 'bind-code':
        return agreements.bindCode(readBindCode(fields));
      case 'bind-confirm':
        return agreements.bindConfirm(readBindConfirm(fields));
      case 'statement':
        return readStatement(readStatementPage(fields), institution, tools);
    }
  };
}

async function readStatement(
  { day, cursor }: ReturnType<typeof readStatementPage>,
  institution: Institution,
  { calls, refs }: Tools,
): Promise<StatementMessage> {
  const page = await calls.make('statement', calls.deadline(), async (signal) => ({
    ...(await institution.statement(day, cursor, signal, refs)),
    status: 'ok',
  }));
  if (page === undefined) throw new Unavailable('the institution gave no statement');
  if (page.lines.length > STATEMENT_PAGE_LINES) throw new Error('a page of a statement has too many lines');
  return { day, lines: page.lines, nextCursor: page.nextCursor ?? null };
}
