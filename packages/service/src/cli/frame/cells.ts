import { indent, paragraphs, type SafeText, safeText } from '../../operations/command/safe-text.js';
import type { CommandRules, MoneyText } from '../../operations/operation.js';
import { formatAmount } from '../../operator/money.js';
import { OperatorError, type OperatorWithGateways } from '../../operator/operator.js';
import type { Cell } from '../../platform/cells.js';
import { checkCell } from '../../platform/installation/cell-sql.js';
import { type OpenedDatabase, openExistingDatabase } from '../../platform/installation/open-database.js';
import type { Settings } from '../../platform/settings.js';
import { type CommandLine, commandOptions, type JsonOption } from './command.js';

/** Returns the cells of CELLS_FILE. Throws if there are none, or if one has no database. */
export function requireCells({ cells }: Pick<Settings, 'cells'>): (Cell & { readonly database: string })[] {
  if (cells.length === 0) throw new OperatorError('set CELLS_FILE to the file that lists the cells');
  return cells.map(({ database, ...cell }) => {
    if (database === undefined) throw new OperatorError(`CELLS_FILE lacks the "database" of cell ${cell.cell}`);
    return { ...cell, database };
  });
}

/** Opens the database of a cell unchanged, runs `work`, and closes it. Throws if it is another cell's. */
export async function withCell<T>(
  { settings, progress }: Pick<CommandLine, 'settings' | 'progress'>,
  options: JsonOption,
  { cell, database }: { readonly cell: number; readonly database: string },
  work: (opened: OpenedDatabase) => Promise<T>,
): Promise<T> {
  const own = { ...settings(), databaseUrl: database, cell };
  const opened = await openExistingDatabase(own, { ...commandOptions(progress(options)), attempts: 1 });
  try {
    await checkCell(opened.database, cell);
    return await work(opened);
  } finally {
    await opened.close();
  }
}

/** The result of one cell, or the reason why there is none. */
export type OfCell<T> = { readonly cell: number; readonly error: null; readonly result: T } | FailedCell;

export interface FailedCell {
  readonly cell: number;
  readonly error: string;
  readonly result: null;
}

/** Runs `work` in every cell, one after the other. A cell that fails does not stop the others. */
export async function inEachCell<T>(
  commandLine: Pick<CommandLine, 'settings' | 'progress'>,
  options: JsonOption,
  work: (opened: OpenedDatabase, cell: number) => Promise<T>,
): Promise<OfCell<T>[]> {
  const results: OfCell<T>[] = [];
  for (const one of requireCells(commandLine.settings())) {
    const { cell } = one;
    try {
      const result = await withCell(commandLine, options, one, (opened) => work(opened, cell));
      results.push({ cell, error: null, result });
    } catch (error) {
      results.push({ cell, error: error instanceof Error ? error.message : String(error), result: null });
    }
  }
  return results;
}

/** Returns the results of all cells. Throws if one has none, for commands whose answer would be wrong without it. */
export async function inAllCells<T>(...args: Parameters<typeof inEachCell<T>>): Promise<{ cell: number; result: T }[]> {
  const results = await inEachCell<T>(...args);
  return results.map((one) => {
    if (one.error !== null) throw new OperatorError(`cell ${one.cell}: ${one.error}`);
    return { cell: one.cell, result: one.result };
  });
}

/**
 * Runs a command in all cells, one after the other, and prints a result for each. Begins only if all cells can be
 * reached. The first cell's choices, such as a new key, are the input of the others.
 */
export async function performInCells(
  commandLine: CommandLine,
  options: JsonOption,
  rules: CommandRules<never, never>,
  input: never,
  run: (operator: OperatorWithGateways, input: never, consoleUrl: string | undefined) => Promise<unknown>,
): Promise<void> {
  await inAllCells(commandLine, options, async () => undefined);
  const money: MoneyText[] = [];
  let given = input;
  const items: OfCell<unknown>[] = [];
  for (const { cell, database: databaseUrl, console: consoleUrl } of requireCells(commandLine.settings())) {
    const act = async (operator: OperatorWithGateways) => {
      const result = await run(operator, given, consoleUrl);
      money.push((cents) => formatAmount(cents, operator.currency));
      given = { ...(given as object), ...rules.inCells?.(result as never) } as never;
      items.push({ cell, error: null, result });
    };
    await commandLine.operate(options, act, { databaseUrl, cell }).catch((error: unknown) => {
      // A result is kept, even if closing its database failed: it may be a secret that is shown once.
      if (items.at(-1)?.cell === cell) return;
      items.push({ cell, error: error instanceof Error ? error.message : String(error), result: null });
    });
  }
  const toText = ({ cell, error, result }: OfCell<unknown>): SafeText =>
    error === null
      ? safeText`Cell ${cell}\n${indent(asSafe(rules.text(result as never, money[0] ?? String, input)))}`
      : safeText`Cell ${cell}: FAILED: ${error}`;
  commandLine.show(
    options,
    { items },
    () => paragraphs(items.map(toText)),
    () => items.every(({ error }) => error === null),
  );
}

const asSafe = (text: string | SafeText): SafeText => safeText`${text}`;
