import type { Command } from 'commander';
import { parseWholeNumber } from '../../../operations/command/parse.js';
import type { SafeText } from '../../../operations/command/safe-text.js';
import { table } from '../../../operations/command/table.js';
import { type Drift, findDrift, readCatalogue } from '../../../operator/cells/drift.js';
import { type Duplicate, findDuplicates } from '../../../operator/cells/duplicates.js';
import type { Queryable } from '../../../platform/db/database.js';
import { inAllCells, requireCells, withCell } from '../../frame/cells.js';
import { addCommand, type CommandLine, type JsonOption } from '../../frame/command.js';

export function addDriftCommand(cell: Command, commandLine: CommandLine): void {
  addCommand(cell, 'drift', 'list what should be the same in all cells and is not: products, keys, schema', [
    'drift',
  ]).action(async (options: JsonOption) => {
    const items = findDrift(
      await inAllCells(commandLine, options, ({ database, vault }) => readCatalogue(database, vault)),
    );
    commandLine.show(options, { items }, driftText, () => items.length === 0);
  });
}

function driftText({ items }: { readonly items: readonly Drift[] }): string | SafeText {
  if (items.length === 0) return 'the cells have the same catalogue and keys';
  return table(
    ['RECORD', 'MISSING IN', 'DIFFERENT IN'],
    items.map(({ record, missingIn, differsIn }) => [record, missingIn.join(', '), differsIn.join(', ')]),
  );
}

export function addDuplicatesCommand(cell: Command, commandLine: CommandLine): void {
  addCommand(cell, 'duplicates', 'list external order numbers and institutions’ agreement numbers of several cells', [
    'duplicates',
    'duplicates --limit 1000 --json',
  ])
    .option('--limit <n>', 'how many to list at most', parseWholeNumber, 100)
    .action(async ({ limit, ...options }: JsonOption & { readonly limit: number }) => {
      const items = await withAllCells(commandLine, options, (cells) => findDuplicates(cells, limit));
      commandLine.show(options, { items }, duplicatesText, () => items.length === 0);
    });
}

function duplicatesText({ items }: { readonly items: readonly Duplicate[] }): string | SafeText {
  if (items.length === 0) return 'no number is in several cells';
  return table(
    ['NUMBER', 'KIND', 'CELLS'],
    items.map(({ kind, name, cells }) => [name, kind, cells.join(', ')]),
  );
}

/** Opens all cells at the same time. */
function withAllCells<T>(
  commandLine: CommandLine,
  options: JsonOption,
  work: (cells: readonly { readonly cell: number; readonly database: Queryable }[]) => Promise<T>,
): Promise<T> {
  const open = ([next, ...rest]: ReturnType<typeof requireCells>, opened: Parameters<typeof work>[0]): Promise<T> =>
    next
      ? withCell(commandLine, options, next, ({ database }) => open(rest, [...opened, { cell: next.cell, database }]))
      : work(opened);
  return open(requireCells(commandLine.settings()), []);
}
