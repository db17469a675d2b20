import path from 'node:path';
import type { Command } from 'commander';
import { type Adopted, adoptInstallation } from '../../../operator/copies/adoption.js';
import {
  type BackupFile,
  checkBackup,
  type NumbersSkipped,
  type Restored,
  recordOtherBackup,
  restoreBackup,
  skipUsedNumbers,
  writeBackupFile,
} from '../../../operator/copies/backups.js';
import { checkRestoredDatabase, type RestoreCheck } from '../../../operator/copies/restore-check.js';
import { formatAmount } from '../../../operator/money.js';
import type { SkippedNumbers } from '../../../platform/copies/tables-sql.js';
import { connectToDatabase, openExistingDatabase } from '../../../platform/installation/open-database.js';
import { describeMasterKeyPlace, readExistingMasterKeys } from '../../../platform/secrets/master-key.js';
import { openVault } from '../../../platform/secrets/vault.js';
import { actorName, addCommand, type CommandLine, type JsonOption } from '../../frame/command.js';
import { paragraphs, type SafeText, safeLines, safeText } from '../../frame/safe-text.js';
import { record, table } from '../../frame/table.js';

/** Copies of the database, and checks before one of them is used. */
export function addBackupCommands(perennial: Command, commandLine: CommandLine): void {
  const { perform, settings, show } = commandLine;
  addCommand(perennial, 'backup <file>', 'copy the whole database into a file, while the service runs', [
    'backup "$HOME/perennial-2026-11-15.gz"',
  ]).action(async (file: string, options: JsonOption) => {
    const keyPlace = describeMasterKeyPlace(settings());
    await perform(
      options,
      async (operator) => ({ ...(await writeBackupFile(operator, path.resolve(file))), masterKeyIn: keyPlace }),
      backupText,
    );
  });

  addCommand(perennial, 'backup-record', 'say that a backup was made by other means, for its age in /metrics', [
    'backup-record',
  ]).action(async (options: JsonOption) => {
    await perform(options, recordOtherBackup, () => safeText`Recorded: a backup was made now.`);
  });

  addCommand(perennial, 'restore <file>', 'put what a backup holds into an empty database', [
    'restore "$HOME/perennial-2026-11-15.gz"',
  ])
    .option('--replace', 'into one that is not empty: all that it holds is lost')
    .action(async (file: string, options: RestoreOptions) => {
      show(options, await restore(commandLine, path.resolve(file), options), restoreText);
    });

  addCommand(perennial, 'restore-check', 'what a restored database would do once its engine is on; changes nothing', [
    'restore-check',
  ]).action(async (options: JsonOption) => {
    show(options, await restoreCheck(commandLine, options), restoreCheckText, ({ problems }) => problems.length === 0);
  });

  const numbers = perennial.command('numbers').description('numbers of orders, agreements and events');
  addCommand(numbers, 'skip', 'leave out numbers that may have been given out since a copy was made', ['skip']).action(
    async (options: JsonOption) => {
      await perform(options, skipUsedNumbers, leftOutText);
    },
  );

  const installation = perennial.command('installation').description('the database that the service runs on');
  addCommand(
    installation,
    'adopt',
    'let nodes work on a database that was restored elsewhere or moved, once the original is out of use',
    ['adopt'],
  ).action(async (options: JsonOption) => {
    await perform(options, adoptInstallation, adoptedText);
  });
}

interface RestoreOptions extends JsonOption {
  readonly replace?: boolean;
}

function adoptedText({ adopted }: Adopted): string {
  return adopted
    ? 'This database is the installation now: nodes that wait on it begin within seconds. Never adopt a copy while the original is in use.'
    : 'Nothing to do: this database is the installation already.';
}

/** The database may not be there yet, so it is not opened like the others. */
async function restore(
  { progress, ...commandLine }: CommandLine,
  file: string,
  { replace = false, ...options }: RestoreOptions,
): Promise<Restored> {
  const settings = commandLine.settings();
  const keys = await readExistingMasterKeys(settings);
  const place = {
    environment: settings.environment,
    vault: keys && openVault(keys),
    masterKeyPlace: describeMasterKeyPlace(settings),
  };
  await checkBackup(place, file);
  const { database, databaseUrl, close } = await connectToDatabase(settings, {
    // As a service, so that no other service uses the folder meanwhile.
    role: 'service',
    name: 'perennial restore',
    attempts: 3,
    log: progress(options),
  });
  try {
    return await restoreBackup({ ...place, database, databaseUrl, actor: actorName() }, { file, replace });
  } finally {
    await close();
  }
}

/** On the database as it is: nothing is made or changed. */
async function restoreCheck({ progress, ...commandLine }: CommandLine, options: JsonOption): Promise<RestoreCheck> {
  const settings = commandLine.settings();
  const { environment } = settings;
  const opened = await openExistingDatabase(settings, {
    role: 'tool',
    mustExist: true,
    attempts: 3,
    log: progress(options),
  });
  try {
    return await checkRestoredDatabase({ ...opened, environment, actor: actorName() });
  } finally {
    await opened.close();
  }
}

function backupText(made: BackupFile & { readonly masterKeyIn: string }): SafeText {
  return paragraphs([
    record([
      ['File', made.file],
      ['As of', made.takenAt],
      ['Rows', `${made.rows} in ${made.tables} tables`],
      ['Bytes', `${made.bytes}`],
    ]),
    safeText`The master key ${made.masterKeyId} is not in the file, and without it the file is worth nothing. It is in ${made.masterKeyIn}: keep a copy of it, apart from this one.`,
    ...(made.otherKeyIds.length === 0
      ? []
      : [
          safeText`Some of what is in it may need ${made.otherKeyIds.join(', ')} too (master-key status): keep all of them.`,
        ]),
    ...(made.recorded
      ? []
      : [safeText`The database could not store that there is a backup: its age in /metrics stays as it was.`]),
  ]);
}

function restoreText({ takenAt, tables, rows, skipped }: Restored): SafeText {
  return paragraphs([
    safeText`${rows} rows in ${tables} tables are as they were at ${takenAt}`,
    skippedText(skipped),
    safeLines([
      'Before it goes into service: restore-check says what it would do, and ENGINE=off starts it without doing it.',
      'If it was restored elsewhere, nodes wait until the original is out of use and you have run: perennial installation adopt',
    ]),
  ]);
}

function leftOutText({ behind, skipped }: NumbersSkipped): SafeText {
  const moved = behind.map(
    (name) => `The sequence ${name} was behind the numbers that are used, and is above them now.`,
  );
  return paragraphs([...(moved.length === 0 ? [] : [safeLines(moved)]), skippedText(skipped)]);
}

function skippedText(skipped: readonly SkippedNumbers[]): SafeText {
  return table(
    ['NUMBERS', 'LAST', 'GO ON AFTER'],
    skipped.map(({ name, from, to }) => [name, from, to]),
  );
}

function restoreCheckText(check: RestoreCheck): SafeText {
  const { lastWriteAt, secondsAgo, waiting, lagging, masterKey, currency, problems } = check;
  const due = waiting.map(({ what, count, oldest, amountCent }) => [
    what,
    `${count}`,
    oldest ?? '-',
    amountCent === null ? '-' : formatAmount(amountCent, currency),
  ]);
  const late = lagging.map(({ name, next, highest }) => [name, next, highest]);
  const condition = check.needsAdoption ? ', after: perennial installation adopt' : '';
  const verdict = safeText`${problems.length === 0 ? `OK: the engine may be switched on${condition}` : `NOT OK: ${problems.join('; ')}`}`;
  if (due.length === 0) return verdict;
  return paragraphs([
    record([
      ['Last write', lastWriteAt === null ? 'none' : `${lastWriteAt}, ${ago(secondsAgo ?? 0)} ago`],
      [
        'Master key',
        `${masterKey.currentKeyId}, ${masterKey.allOpen ? 'opens everything' : 'does not open everything'}`,
      ],
      ['Sequences', lagging.length === 0 ? 'all beyond what there is' : `${lagging.length} lag behind`],
    ]),
    ...(late.length === 0 ? [] : [table(['SEQUENCE', 'WOULD GIVE', 'THERE IS'], late)]),
    table(['ONCE THE ENGINE IS ON', 'COUNT', 'OLDEST', 'AMOUNT'], due),
    verdict,
  ]);
}

function ago(seconds: number): string {
  const units = [
    [86_400, 'd'],
    [3600, 'h'],
    [60, 'min'],
  ] as const;
  const [size, unit] = units.find(([one]) => seconds >= one) ?? [1, 's'];
  return `${Math.floor(seconds / size)} ${unit}`;
}
