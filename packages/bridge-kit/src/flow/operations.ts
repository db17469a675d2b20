import {
  currencyOf,
  type Fields,
  type HandshakeMessage,
  type Operation,
  STATEMENT_PAGE_LINES,
  type StatementMessage,
} from '@perennial/wire/bridge';
import type { Institution } from '../institution.js';
import { requireField, requireSameCurrency } from '../server/refusals.js';
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
import type { Tools } from './numbered-calls.js';
import type { Refunds } from './refunds.js';

export interface Flows {
  readonly debits: Debits;
  readonly refunds: Refunds;
  readonly agreements: Agreements;
}

/** Maps each operation to its implementation. */
export function createOperations(
  { debits, refunds, agreements }: Flows,
  institution: Institution,
  currency: string,
  tools: Tools,
): (request: SignedRequest<Operation>) => Promise<object> {
  return async ({ operation, fields, idempotencyKey }) => {
    if (operation === 'handshake') return shakeHands(fields, currency, tools);
    requireSameCurrency(fields, currency);
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

/**
 * Returns this bridge's currency even if the service's currency is different: the service reports the difference to
 * operators.
 */
function shakeHands(fields: Fields, currency: string, { log }: Tools): HandshakeMessage {
  const theirs = requireField(currencyOf(fields), 'currency');
  if (theirs !== currency) {
    log.error(
      { operation: 'handshake' },
      `the service uses ${theirs}, but this bridge ${currency}: its requests are refused`,
    );
  }
  return { currency };
}

async function readStatement(
  { day, cursor }: ReturnType<typeof readStatementPage>,
  institution: Institution,
  { calls, refs }: Tools,
): Promise<StatementMessage> {
  const page = await calls.require('statement', async (signal) => ({
    ...(await institution.statement(day, cursor, signal, refs)),
    status: 'ok',
  }));
  if (page.lines.length > STATEMENT_PAGE_LINES)
    throw new Error('the institution returned too many lines in a statement page');
  return { day, lines: page.lines, nextCursor: page.nextCursor ?? null };
}
