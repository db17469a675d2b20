import type { Command } from 'commander';
import type { SafeText } from '../../../operations/command/safe-text.js';
import { table } from '../../../operations/command/table.js';
import { claimCurrency, claimInstallation } from '../../../platform/installation/installation.js';
import { type OpenConnection, openAnySchema } from '../../../platform/installation/open-database.js';
import { PlainError } from '../../../platform/plain-error.js';
import { type MigrationResult, migrate } from '../../../platform/schema/migrate.js';
import { readSchema } from '../../../platform/schema/schema-state.js';
import { type CommandLine, commandOptions, type JsonOption } from '../../frame/command.js';

const EXAMPLES = `
Examples:
  $ perennial migrate
  $ perennial migrate --status
  $ perennial migrate --contract`;

interface Options extends JsonOption {
  readonly status?: boolean;
  readonly contract?: boolean;
}

export function addMigrateCommand(perennial: Command, commandLine: CommandLine): void {
  perennial
    .command('migrate')
    .description('update the schema to this build; nodes of this version and the previous one may run meanwhile')
    .option('--status', 'only show which migrations are applied')
    .option('--contract', 'also remove parts that only the previous version needs, once none of its nodes runs')
    .option('--json', 'print one JSON document instead of text')
    .addHelpText('after', EXAMPLES)
    .action((options: Options) => run(commandLine, options));
}

async function run(
  { progress, show, ...commandLine }: CommandLine,
  { status = false, contract = false, ...options }: Options,
): Promise<void> {
  if (status && contract)
    throw new PlainError('--status and --contract contradict each other: --status changes nothing');
  const settings = commandLine.settings();
  const log = progress(options);
  const opened = await openAnySchema(settings, commandOptions(log));
  try {
    if (status) {
      show(options, { items: await listMigrations(opened) }, ({ items }) => statusText(items));
      return;
    }
    const migrated = await migrate(opened.databaseUrl, { contract, log });
    await claimInstallation(opened.database, settings.environment, opened.keys);
    await claimCurrency(opened.database, settings.currency);
    const { missingContracts } = await readSchema(opened.database);
    show(options, { ...migrated, waiting: missingContracts.map(({ name }) => name) }, migratedText);
  } finally {
    await opened.close();
  }
}

interface MigrationStatus {
  readonly name: string;
  readonly kind: 'expand' | 'contract';
  readonly state: 'applied' | 'unfinished' | 'missing' | 'of a newer build';
  readonly appliedAt: string | null;
}

async function listMigrations({ database }: OpenConnection): Promise<MigrationStatus[]> {
  const { migrations, applied } = await readSchema(database);
  const last = migrations.at(-1)?.version ?? 0;
  const newer = [...applied.values()].filter(({ version }) => version > last);
  return [...migrations, ...newer].map(({ version, name, isContract }) => {
    const row = applied.get(version);
    const done = row?.isFinished ? (version > last ? 'of a newer build' : 'applied') : 'unfinished';
    return {
      name,
      kind: isContract ? 'contract' : 'expand',
      state: row ? done : 'missing',
      appliedAt: row?.appliedAt ?? null,
    };
  });
}

function statusText(migrations: readonly MigrationStatus[]): SafeText {
  return table(
    ['MIGRATION', 'KIND', 'STATE', 'APPLIED AT'],
    migrations.map(({ name, kind, state, appliedAt }) => [name, kind, state, appliedAt ?? '']),
  );
}

function migratedText({
  version,
  applied,
  waiting,
}: MigrationResult & { readonly waiting: readonly string[] }): string {
  const done = applied.length === 0 ? 'no migration was missing' : `migrations applied: ${applied.length}`;
  const later =
    waiting.length === 0 ? '' : `; ${waiting.join(', ')} waits for --contract; run it once no older node runs`;
  return `${done}; the schema is at ${version}${later}`;
}
