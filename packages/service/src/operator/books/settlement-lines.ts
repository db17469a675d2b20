import type { Static } from '@perennial/wire';
import { type LineKey, type ListedLine, listLines } from '../../settlement/settlement-lines-sql.js';
import type { OperatorWithClock } from '../operator.js';
import { readCursor, requirePageSize, writeCursor } from '../paging.js';
import { requireChannelView } from '../provisioning/channel-change.js';
import type { linesQuery } from '../schemas/books.js';
import type { Asked } from '../schemas/parts.js';
import { requireBegunMonth } from './months.js';

/** A page is complete after this time, even if it has fewer rows. Its cursor continues the list. */
const PAGE_MS = 80;
/** The time that the statement of a stretch should take. Another stretch begins only if this time is left. */
const STRETCH_MS = PAGE_MS / 2;
const MINUTE_MS = 60_000;
/** The lengths of a stretch in minutes. */
const FIRST_STRETCH = 60;
const MIN_STRETCH = 5;
const MAX_STRETCH = 32 * 24 * 60;
const MAX_STATEMENT_MS = 5_000;

interface ListLinesInput extends Asked<Static<typeof linesQuery>> {
  readonly month: string;
}

/** The key of a line, and the length of the next stretch in minutes. */
type Position = readonly [...LineKey, minutes: number];
const EXAMPLE: Position = [1, '', '', 1];

/**
 * Returns a page of the lines of a channel in a month, in the order of their times. Reads stretches of time, because
 * the times have small indexes only (BRIN), so a page may have few rows or none although more follow. The cursor keeps
 * the length of the stretches, so a month with few lines takes few pages on a slow machine too.
 */
export async function listSettlementLines(operator: OperatorWithClock, input: ListLinesInput) {
  const { month, appId, kind, productCode, settlementMode, cursor, limit } = input;
  const { clock, database } = operator;
  const bounds = requireBegunMonth(month, operator);
  const { channelId } = await requireChannelView(database, appId);
  const size = requirePageSize(limit);
  const began = clock.now();
  const found: ListedLine[] = [];
  let [afterMicros, afterPayment, afterRefund, minutes]: Position =
    cursor === undefined ? [bounds.from * 1000, '', '', FIRST_STRETCH] : readCursor(LIST, cursor, EXAMPLE);
  do {
    const from = Math.floor(afterMicros / 1000);
    const to = Math.min(from + minutes * MINUTE_MS, bounds.to);
    const startedAt = clock.now();
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
      return createPage(found.slice(0, size), [last.micros, last.paymentOrderNo, last.refundNo ?? '', minutes]);
    }
    if (to >= bounds.to) return createPage(found, undefined);
    [afterMicros, afterPayment, afterRefund] = [to * 1000, '', ''];
    minutes = nextStretch(minutes, clock.now() - startedAt);
  } while (clock.now() - began < PAGE_MS - STRETCH_MS);
  return createPage(found, [afterMicros, afterPayment, afterRefund, minutes]);
}

/** Makes the next stretch longer after a fast statement, and shorter after a slow one, each at most eightfold. */
function nextStretch(minutes: number, tookMs: number): number {
  const factor = Math.min(Math.max(STRETCH_MS / Math.max(tookMs, 1), 1 / 8), 8);
  return Math.min(Math.max(Math.floor(minutes * factor), MIN_STRETCH), MAX_STRETCH);
}

const LIST = 'settlement-lines';

const createPage = (rows: readonly ListedLine[], next: Position | undefined) => ({
  lines: rows.map(({ micros: _, ...line }) => line),
  nextCursor: next ? writeCursor(LIST, next) : null,
});
