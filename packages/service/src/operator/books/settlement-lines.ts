import type { Static } from '@perennial/wire';
import { type LineKey, type ListedLine, listLines } from '../../settlement/settlement-lines-sql.js';
import type { OperatorWithClock } from '../operator.js';
import { readCursor, requirePageSize, writeCursor } from '../paging.js';
import { requireChannelView } from '../provisioning/channel-change.js';
import type { linesQuery } from '../schemas/books.js';
import type { Asked } from '../schemas/parts.js';
import { requireBegunMonth } from './months.js';

/** The length of the first stretch. Each further stretch is longer by GROWTH, so a month takes five statements at most. */
const FIRST_STRETCH_MS = 3_600_000;
const GROWTH = 8;
const MAX_STATEMENT_MS = 5_000;

interface ListLinesInput extends Asked<Static<typeof linesQuery>> {
  readonly month: string;
}

const EXAMPLE: LineKey = [1, '', ''];

/**
 * Returns a page of the lines of a channel in a month, in the order of their times. Reads stretches of time, because
 * the times have small indexes only (BRIN).
 */
export async function listSettlementLines(operator: OperatorWithClock, input: ListLinesInput) {
  const { month, appId, kind, productCode, settlementMode, cursor, limit } = input;
  const { database } = operator;
  const bounds = requireBegunMonth(month, operator);
  const { channelId } = await requireChannelView(database, appId);
  const size = requirePageSize(limit);
  const found: ListedLine[] = [];
  let [afterMicros, afterPayment, afterRefund]: LineKey =
    cursor === undefined ? [bounds.from * 1000, '', ''] : readCursor(LIST, cursor, EXAMPLE);
  for (let stretch = FIRST_STRETCH_MS; ; stretch *= GROWTH) {
    const from = Math.floor(afterMicros / 1000);
    const to = Math.min(from + stretch, bounds.to);
    const lines = await database.transaction(
      (tx) =>
        listLines(tx, {
          ...{ channelId, from, to, afterMicros, afterPayment, afterRefund },
          ...{ kind, productCode, settlementMode, limit: size + 1 - found.length },
        }),
      { readOnly: true, statementMs: MAX_STATEMENT_MS },
    );
    found.push(...lines);
    const last = found[size - 1];
    if (last && found.length > size) {
      return createPage(found.slice(0, size), [last.micros, last.paymentOrderNo, last.refundNo ?? '']);
    }
    if (to >= bounds.to) return createPage(found, undefined);
    [afterMicros, afterPayment, afterRefund] = [to * 1000, '', ''];
  }
}

const LIST = 'settlement-lines';

const createPage = (rows: readonly ListedLine[], next: LineKey | undefined) => ({
  lines: rows.map(({ micros: _, ...line }) => line),
  nextCursor: next ? writeCursor(LIST, next) : null,
});
