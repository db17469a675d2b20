import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { formatTime } from '@perennial/wire';
import type { Gateway, StatementLine } from '../gateways/gateway.js';
import { type Cell, isOfOtherCell } from '../platform/cells.js';
import { refuseLine } from '../platform/csv/csv.js';
import { parseAttemptNo } from '../subscriptions/domain/orders/order-numbers.js';
import { parseRefundNo } from '../subscriptions/domain/orders/refund-numbers.js';
import type { StagedLine } from './compare-statement-sql.js';

/** A line, and its line number in the statement. */
export interface NumberedLine {
  readonly at: number;
  readonly line: StatementLine;
}

/** A complete statement whose lines were all checked. */
export interface InstitutionStatement {
  readonly lines: number;
  /** Yields JSON texts with up to LINES_PER_BATCH lines each, as `stageLines` expects them. */
  batches(): AsyncIterable<string>;
}

const LINES_PER_BATCH = 1000;

/**
 * Reads a whole statement into a temporary file before it is used. A statement may have millions of lines and may break
 * off, and no transaction should wait for an institution.
 */
export async function withStatement<T>(
  lines: AsyncIterable<NumberedLine>,
  day: string,
  use: (statement: InstitutionStatement) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-statement-'));
  try {
    const file = await open(path.join(folder, 'lines'), 'wx+', 0o600);
    try {
      const kept = await storeLines(lines, day, file);
      return await use({ lines: kept.lines, batches: () => readBatches(file, kept.sizes) });
    } finally {
      await file.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function storeLines(lines: AsyncIterable<NumberedLine>, day: string, file: FileHandle) {
  const sizes: number[] = [];
  let batch: StagedLine[] = [];
  let count = 0;
  const flush = async () => {
    const bytes = Buffer.from(JSON.stringify(batch));
    await file.appendFile(bytes);
    sizes.push(bytes.length);
    batch = [];
  };
  for await (const { at, line } of lines) {
    const bookedAt = formatTime(line.bookedAt);
    if (!bookedAt.startsWith(day)) throw refuseLine(at, `it was booked at ${bookedAt}, which is not on ${day}`);
    batch.push(toStagedLine(line));
    count += 1;
    if (batch.length === LINES_PER_BATCH) await flush();
  }
  if (batch.length > 0) await flush();
  return { lines: count, sizes };
}

async function* readBatches(file: FileHandle, sizes: readonly number[]): AsyncGenerator<string> {
  let position = 0;
  for (const size of sizes) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, position);
    if (bytesRead !== size) throw new Error('a file that was just written is shorter than what was written');
    position += size;
    yield buffer.toString();
  }
}

/** Adds the parts of the line's number if the service can have issued this number. */
function toStagedLine({ kind, number, amountCent, status }: StatementLine): StagedLine {
  const debit = kind === 'debit' ? parseAttemptNo(number) : undefined;
  const refund = kind === 'refund' ? parseRefundNo(number) : undefined;
  return {
    kind,
    number,
    amount_cent: amountCent,
    status,
    order_no: debit?.orderNo ?? refund?.orderNo ?? null,
    cycle_no: debit?.cycleNo ?? refund?.cycleNo ?? null,
    seq: debit?.tryNo ?? refund?.refundSeq ?? null,
  };
}

/**
 * Leaves out lines of orders of other cells: an institution has one statement for all of them. Keeps lines whose number
 * nobody can have issued.
 */
export async function* withoutOtherCells(
  lines: AsyncIterable<NumberedLine>,
  cells: readonly Cell[],
  own: number,
): AsyncGenerator<NumberedLine> {
  for await (const numbered of lines) {
    const { kind, number } = numbered.line;
    const reference = kind === 'debit' ? parseAttemptNo(number) : parseRefundNo(number);
    if (!reference || !isOfOtherCell(cells, own, reference.orderNo)) yield numbered;
  }
}

export async function* readStatementFromGateway(gateway: Gateway, day: string): AsyncGenerator<NumberedLine> {
  let at = 0;
  for await (const line of gateway.statement(day)) {
    at += 1;
    yield { at, line };
  }
}
