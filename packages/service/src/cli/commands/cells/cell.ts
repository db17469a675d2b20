import type { Command } from 'commander';
import { parseWholeNumber } from '../../../operations/command/parse.js';
import { type InitedCell, initCell } from '../../../operator/cells/init-cell.js';
import { OperatorError } from '../../../operator/operator.js';
import { requireInteger } from '../../../operator/rules.js';
import { MAX_CELL } from '../../../platform/cells.js';
import { connectToDatabase, openExistingDatabase } from '../../../platform/installation/open-database.js';
import { migrate } from '../../../platform/schema/migrate.js';
import { actorName, addCommand, type CommandLine, commandOptions, type JsonOption } from '../../frame/command.js';
import { addListCommand, addMapCommand, addOfCommand } from './channels-of-cells.js';
import { addDriftCommand, addDuplicatesCommand } from './reports.js';
import { addSplitCommand } from './split.js';

export function addCellCommands(perennial: Command, commandLine: CommandLine): void {
  const cell = perennial.command('cell').description('databases that share the channels of one installation');
  addInit(cell, commandLine);
  addListCommand(cell, commandLine);
  addOfCommand(cell, commandLine);
  addMapCommand(cell, commandLine);
  addSplitCommand(cell, commandLine);
  addDriftCommand(cell, commandLine);
  addDuplicatesCommand(cell, commandLine);
}

function addInit(cell: Command, commandLine: CommandLine): void {
  addCommand(
    cell,
    'init',
    'make the empty database of DATABASE_URL a cell, with the keys and the catalogue of another cell',
    ['init --like postgres://…/perennial_0 --cell 2'],
  )
    .requiredOption('--like <url>', 'database of a cell to copy keys and catalogue from')
    .requiredOption('--cell <number>', `number of the new cell, 1 to ${MAX_CELL}`, parseWholeNumber)
    .action(async ({ like, cell: number, ...options }: JsonOption & { like: string; cell: number }) => {
      requireInteger('the cell', number, 1, MAX_CELL);
      commandLine.show(options, await init(commandLine, options, like, number), initText);
    });
}

const initText = ({ cell, created }: InitedCell): string =>
  created
    ? `The database is cell ${cell} now. Add it to CELLS_FILE and start its nodes with CELL=${cell}.`
    : `Nothing to do: the database is cell ${cell} already.`;

async function init(commandLine: CommandLine, options: JsonOption, like: string, cell: number): Promise<InitedCell> {
  const settings = commandLine.settings();
  if (settings.databaseUrl === undefined) throw new OperatorError('set DATABASE_URL to the database of the new cell');
  if (settings.cell !== undefined && settings.cell !== cell) {
    throw new OperatorError(
      `CELL is ${settings.cell}, but --cell is ${cell}: run the command with the settings of cell ${cell}`,
    );
  }
  if (!/^postgres(?:ql)?:/.test(like)) throw new OperatorError('--like must be a URL that starts with postgres://');
  const opening = commandOptions(commandLine.progress(options));
  const model = await openExistingDatabase({ ...settings, databaseUrl: like }, opening);
  try {
    const own = await connectToDatabase(settings, opening);
    try {
      await migrate(own.databaseUrl, { log: opening.log });
      return await initCell({ cell, actor: actorName(), like: model, database: own.database });
    } finally {
      await own.close();
    }
  } finally {
    await model.close();
  }
}
