import { spawn } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { type Command, Option } from 'commander';
import { appendList, parseWholeNumber } from '../../../operations/command/parse.js';
import { paragraphs, type SafeText, safeLines, safeText } from '../../../operations/command/safe-text.js';
import { table } from '../../../operations/command/table.js';
import {
  cancelSplit,
  describeSplit,
  findObstacles,
  type MovedCell,
  runSplit,
  SPLIT_STEPS,
  type SplitPlan,
  type SplitStep,
  type StepReport,
} from '../../../operator/cells/split.js';
import { listUnusedSlots, readServer } from '../../../operator/cells/split-sql.js';
import { OperatorError } from '../../../operator/operator.js';
import { systemClock } from '../../../platform/clock.js';
import { type Database, openDatabase } from '../../../platform/db/database.js';
import { readDatabaseUrl } from '../../../platform/db/database-url.js';
import { checkCell } from '../../../platform/installation/cell-sql.js';
import type { Env } from '../../../platform/settings/values.js';
import { requireCells } from '../../frame/cells.js';
import { addCommand, type CommandLine, type JsonOption } from '../../frame/command.js';
import { askHaproxy } from './haproxy.js';

interface SplitOptions extends JsonOption {
  readonly from: string;
  readonly to: string;
  readonly dryRun?: boolean;
  readonly until: SplitStep;
  readonly cancel?: boolean;
  readonly replicaLost?: boolean;
  readonly promoteCommand?: string;
  readonly switchCommand?: string;
  readonly haproxy?: readonly string[];
  readonly waitSeconds: number;
}

interface SplitReport {
  readonly cells: readonly number[];
  readonly steps: readonly StepReport[];
  readonly obstacles: readonly string[];
  readonly advice: readonly string[];
}

export function addSplitCommand(cell: Command, commandLine: CommandLine): void {
  addCommand(
    cell,
    'split <cells>',
    'move cells to the replica of their server; may be repeated after an interruption',
    [
      'split 2 --from postgres://postgres@old/postgres --to postgres://postgres@new/postgres --dry-run',
      'split 2,3 --from postgres://postgres@old/postgres --to postgres://postgres@new/postgres \\\n' +
        '      --haproxy /run/haproxy/admin.sock',
    ],
  )
    .requiredOption('--from <url>', 'a maintenance database of the server that has the cells, such as postgres')
    .requiredOption('--to <url>', 'the same of its replica')
    .option('--dry-run', 'only show the state of each step, and what would prevent the split')
    .addOption(new Option('--until <step>', 'stop after this step').choices(SPLIT_STEPS).default('verify'))
    .option('--cancel', 'open the cells on the old server again, if they were not opened on the new one')
    .option('--replica-lost', 'with --cancel: the replica does not answer, and will never be used')
    .option('--promote-command <command>', 'promotes the replica, such as one of Patroni (default: pg_promote())')
    .option('--switch-command <command>', 'makes the listener of PERENNIAL_CELL lead to PERENNIAL_HOST, PERENNIAL_PORT')
    .option(
      '--haproxy <sockets>',
      'changes the address of db_cell_N/db, by the runtime socket of each haproxy',
      appendList,
    )
    .option('--wait-seconds <n>', 'longest wait of a step', parseWholeNumber, 60)
    .action(async (cells: string, options: SplitOptions) => {
      const numbers = appendList(cells).map(parseWholeNumber);
      const report = await split(commandLine, numbers, options);
      commandLine.show(options, report, reportText, () => report.obstacles.length === 0);
    });
}

async function split(
  commandLine: CommandLine,
  numbers: readonly number[],
  options: SplitOptions,
): Promise<SplitReport> {
  const { from, to } = options;
  const open = (url: string) => openDatabase({ url, pool: 1, name: 'perennial cell split', statementMs: 10_000 });
  const [old, replica] = [open(from), open(to)];
  try {
    return await run(toPlan(commandLine, numbers, options, { old, replica }), options);
  } finally {
    await Promise.all([old.close(), replica.close()]);
  }
}

async function run(
  plan: SplitPlan,
  { dryRun, cancel, replicaLost = false, until }: SplitOptions,
): Promise<SplitReport> {
  const cells = plan.cells.map(({ cell }) => cell);
  if (cancel) {
    await cancelSplit(plan, replicaLost);
    return { cells, steps: [], obstacles: [], advice: ['the cells are open on the old server'] };
  }
  if (dryRun) return { cells, steps: await describeSplit(plan), obstacles: await findObstacles(plan), advice: [] };
  const steps = await runSplit(plan, until);
  const slots = await listUnusedSlots(plan.from).catch(() => []);
  const advice =
    until === 'verify'
      ? [
          'keep the new addresses: change the "database" addresses of your proxy’s configuration',
          'back both servers up, then drop the fenced databases on each of them',
          ...slots.map((slot) => `drop the unused replication slot ${slot} of the old server, or it keeps all WAL`),
        ]
      : [];
  return { cells, steps, obstacles: [], advice };
}

function toPlan(
  { settings, progress, env }: CommandLine,
  numbers: readonly number[],
  options: SplitOptions,
  { old, replica }: { readonly old: Database; readonly replica: Database },
): SplitPlan {
  const listed = requireCells(settings());
  const urls = new Map(listed.map(({ cell, database }) => [cell, database]));
  const cells = numbers.map((cell): MovedCell => {
    const url = urls.get(cell);
    if (url === undefined) throw new OperatorError(`CELLS_FILE has no cell ${cell}`);
    const { database } = readDatabaseUrl(url);
    if (database === undefined) throw new OperatorError(`CELLS_FILE has no name of a database for cell ${cell}`);
    return { cell, database };
  });
  const { promoteCommand, switchCommand, haproxy } = options;
  const say = progress(options);
  const { host, port } = readDatabaseUrl(options.to);
  return {
    cells,
    from: old,
    to: replica,
    say,
    clock: systemClock,
    waitMs: options.waitSeconds * 1000,
    ...(promoteCommand && {
      promote: () => runCommandOf(promoteCommand, { ...env, PERENNIAL_CELLS: numbers.join(',') }),
    }),
    ...((haproxy || switchCommand) && {
      async switchListener(cell: number) {
        for (const socket of haproxy ?? []) await switchHaproxy(socket, cell, host, port);
        if (switchCommand) {
          const target = { PERENNIAL_CELL: `${cell}`, PERENNIAL_HOST: host, PERENNIAL_PORT: `${port}` };
          await runCommandOf(switchCommand, { ...env, ...target });
        }
      },
    }),
    ...(haproxy && {
      async checkListener(cell: number) {
        for (const socket of haproxy) await askHaproxy(socket, `get weight ${listenerOf(cell)}`, /\(initial /);
      },
    }),
    reach: (cell) => reach(urls.get(cell) ?? '', cell),
  };
}

/** Connects as a node would, and makes sure that the server is writable and has the cell. */
async function reach(url: string, cell: number): Promise<string> {
  const database = openDatabase({ url, pool: 1, name: 'perennial cell split', statementMs: 5_000 });
  try {
    const { startedAt, isReplica } = await readServer(database);
    if (isReplica) throw new OperatorError('a replica answers');
    await checkCell(database, cell);
    return startedAt;
  } finally {
    await database.close();
  }
}

const listenerOf = (cell: number) => `db_cell_${cell}/db`;

/** Ends the old sessions too, because haproxy leaves them to a server that may be dead. */
async function switchHaproxy(socket: string, cell: number, host: string, port: number): Promise<void> {
  const server = listenerOf(cell);
  // haproxy takes no names here.
  const { address } = await lookup(host);
  await askHaproxy(socket, `set server ${server} addr ${address} port ${port}`, /changed|no need to change/);
  await askHaproxy(socket, `shutdown sessions server ${server}`);
}

/** Runs a command of the operator in a shell. Its output goes to stderr, because stdout has the result. */
async function runCommandOf(command: string, env: Env): Promise<void> {
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 2, 2], env });
  const [code, signal] = await once(child, 'close');
  if (code !== 0) {
    const advice = 'correct it and run the split again, or go back with --cancel';
    throw new OperatorError(`a command ended with ${signal ?? code}; ${advice}: ${command}`);
  }
}

function reportText({ cells, steps, obstacles, advice }: SplitReport): SafeText {
  const rows = steps.map(({ step, state, what }) => [step, state, what]);
  return paragraphs([
    safeText`Cells ${cells.join(', ')}`,
    ...(rows.length === 0 ? [] : [table(['STEP', 'STATE', 'DONE IF'], rows)]),
    ...(obstacles.length === 0 ? [] : [safeLines(obstacles.map((one) => `NOT POSSIBLE: ${one}`))]),
    ...(advice.length === 0 ? [] : [safeLines(advice.map((one) => `- ${one}`))]),
  ]);
}
