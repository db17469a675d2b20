import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { appendList } from '../../../operations/command/parse.js';
import { type SafeText, safeLines, safeText } from '../../../operations/command/safe-text.js';
import { table } from '../../../operations/command/table.js';
import { findAppId, listAppIds, readCellFacts } from '../../../operator/cells/read-cell-sql.js';
import { NotFoundError, OperatorError } from '../../../operator/operator.js';
import { quoted } from '../../../operator/rules.js';
import { rangesOf } from '../../../platform/cells.js';
import { inAllCells, inEachCell, type OfCell, requireCells } from '../../frame/cells.js';
import { addCommand, type CommandLine, type JsonOption } from '../../frame/command.js';
import { replaceMap } from './haproxy.js';

export function addListCommand(cell: Command, commandLine: CommandLine): void {
  addCommand(cell, 'list', 'show the cells of CELLS_FILE: where they are, and how full', ['list']).action(
    async (options: JsonOption) => {
      const servers = new Map(requireCells(commandLine.settings()).map((one) => [one.cell, toPlace(one.database)]));
      const found = await inEachCell(commandLine, options, ({ database }) => readCellFacts(database));
      const items = found.map((one) => ({ ...one, server: servers.get(one.cell) ?? '' }));
      commandLine.show(options, { items }, listText, () => items.every(({ error }) => error === null));
    },
  );
}

/** Returns host, port and database of a URL, without its user and password. */
function toPlace(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  return `${searchParams.get('host') ?? hostname}:${searchParams.get('port') ?? (port || 5432)}${pathname}`;
}

type Facts = Awaited<ReturnType<typeof readCellFacts>>;

function listText({ items }: { readonly items: readonly (OfCell<Facts> & { readonly server: string })[] }): SafeText {
  return table(
    ['CELL', 'DATABASE', 'CHANNELS', 'ACTIVE ORDERS', 'SIZE', 'NUMBERS USED', 'STATE'],
    items.map(({ cell, server, error, result }) =>
      result === null
        ? [`${cell}`, server, '', '', '', '', error]
        : [
            `${cell}`,
            server,
            `${result.channels}`,
            `${result.activeOrders}`,
            `${Math.ceil(result.bytes / 1e6)} MB`,
            shareUsed(cell, result.orderNumber),
            `schema ${result.schema}`,
          ],
    ),
  );
}

function shareUsed(cell: number, number: number): string {
  const [{ start, max } = { start: 0, max: 1 }] = rangesOf(cell);
  return `${((Math.max(number - start, 0) / (max - start)) * 100).toFixed(1)} %`;
}

export function addOfCommand(cell: Command, commandLine: CommandLine): void {
  addCommand(cell, 'of <app-id>', 'show the cell of a channel', ['of test_demo']).action(
    async (appId: string, options: JsonOption) => {
      const cell = await findCell(commandLine, options, appId);
      commandLine.show(options, { appId, cell }, ({ cell: its }) => `${appId} is in cell ${its}`);
    },
  );
}

/** Returns the cell of an app id. Throws if several have it, except if only one of its channels is in use. */
async function findCell(commandLine: CommandLine, options: JsonOption, appId: string): Promise<number> {
  const found = await inAllCells(commandLine, options, ({ database }) => findAppId(database, appId));
  const places = found.flatMap(({ cell, result }) => (result ? [{ cell, isIdle: result.isIdle }] : []));
  if (places.length === 0) throw new NotFoundError(`there is no channel ${quoted(appId)} in any cell`);
  const [first, second] = places.length === 1 ? places : places.filter(({ isIdle }) => !isIdle);
  if (first && !second) return first.cell;
  throw new OperatorError(
    `the app id ${quoted(appId)} is in the cells ${places.map(({ cell }) => cell).join(' and ')}, and only one of them can get its requests: suspend the channel in the cells where it has no orders`,
  );
}

interface MapOptions extends JsonOption {
  readonly output?: string;
  readonly haproxy?: readonly string[];
}

export function addMapCommand(cell: Command, commandLine: CommandLine): void {
  addCommand(cell, 'map', 'write haproxy’s map from app ids to the backends cell_0, cell_1, …', [
    'map --output /etc/haproxy/cells.map',
    'map --output /etc/haproxy/cells.map --haproxy /run/haproxy/admin.sock',
  ])
    .option('--output <file>', 'write the map to this file (default: print it)')
    .option('--haproxy <sockets>', 'also replace the map of running haproxies, by their runtime sockets', appendList)
    .action(async ({ output, haproxy, ...options }: MapOptions) => {
      if (haproxy !== undefined && output === undefined) throw new OperatorError('--haproxy needs --output');
      const items = await listChannelsOfCells(commandLine, options);
      const lines = items.map((one) => `${one.appId} cell_${one.cell}`);
      if (output !== undefined) await writeMap(path.resolve(output), lines);
      for (const socket of haproxy ?? []) await replaceMap(socket, path.resolve(output ?? ''), lines);
      commandLine.show(options, { items }, () => mapText(lines, output));
    });
}

const mapText = (lines: readonly string[], output: string | undefined): SafeText =>
  output === undefined ? safeLines(lines) : safeText`${lines.length} channels are in ${output}`;

/** Throws if a cell cannot be read, because the map would lack its channels, or if an app id is used in two cells. */
async function listChannelsOfCells(commandLine: CommandLine, options: JsonOption) {
  const cells = new Map<string, number>();
  for (const { cell, result } of await inAllCells(commandLine, options, ({ database }) => listAppIds(database))) {
    for (const appId of result) {
      cells.set(appId, cells.has(appId) ? await findCell(commandLine, options, appId) : cell);
    }
  }
  return [...cells].map(([appId, cell]) => ({ appId, cell }));
}

/** Writes under a temporary name first, so that the file is always complete. It contains no secret. */
async function writeMap(file: string, lines: readonly string[]): Promise<void> {
  const unfinished = `${file}.${process.pid}.unfinished`;
  try {
    await writeFile(unfinished, `${lines.join('\n')}\n`);
    await rename(unfinished, file);
  } catch (error) {
    throw new OperatorError(`the map cannot be written: ${(error as Error).message}`);
  }
}
