import path from 'node:path';
import type { Command } from 'commander';
import {
  type BackupFile,
  backUp,
  checkBackup,
  type LeftOut,
  leaveOutNumbers,
  type Restored,
  restoreBackup,
} from '../../operator/copies/backups.js';
import { checkRestored, type RestoreCheck } from '../../operator/copies/restore-check.js';
import { money } from '../../operator/money.js';
import type { SkippedNumbers } from '../../platform/copies/tables-sql.js';
import { connectFromSettings, openToLook } from '../../platform/installation/open.js';
import { existingMasterKeys, masterKeyPlace } from '../../platform/secrets/master-key.js';
import { openVault } from '../../platform/secrets/vault.js';
import { actor, type CommandLine, type JsonOption, verb } from '../frame/command.js';
import { lines, paragraphs, type Shown, shown } from '../frame/shown.js';
import { record, table } from '../frame/table.js';

/** Copies of the database, and what to look at before one of them goes into service. */
export function addBackup(perennial: Command, commandLine: CommandLine): void {
  const { perform, settings, show } = commandLine;
  verb(perennial, 'backup <file>', 'copy the whole database into a file, while the service runs', [
    'backup "$HOME/perennial-2026-11-15.gz"',
  ]).action(async (file: string, options: JsonOption) => {
    const keyPlace = masterKeyPlace(settings());
    await perform(
      options,
      async (operator) => ({ ...(await backUp(operator, path.resolve(file))), masterKeyIn: keyPlace }),
      backupText,
    );
  });

  verb(perennial, 'restore <file>', 'put what a backup holds into an empty database', [
    'restore "$HOME/perennial-2026-11-15.gz"',
  ])
    .option('--replace', 'into one that is not empty: all that it holds is lost')
    .action(async (file: string, options: RestoreOptions) => {
      show(options, await restore(commandLine, path.resolve(file), options), restoreText);
    });

  verb(perennial, 'restore-check', 'what a restored database would do once its engine is on; changes nothing', [
    'restore-check',
  ]).action(async (options: JsonOption) => {
    show(options, await restoreCheck(commandLine, options), checkText, ({ problems }) => problems.length === 0);
  });

  const numbers = perennial.command('numbers').description('numbers of orders, agreements and events');
  verb(numbers, 'skip', 'leave out numbers that may have been given out since a copy was made', ['skip']).action(
    async (options: JsonOption) => {
      await perform(options, leaveOutNumbers, leftOutText);
    },
  );
}

interface RestoreOptions extends JsonOption {
  readonly replace?: boolean;
}

/** The database may not be there yet, so it is not opened like the others. */
async function restore(
  { progress, ...commandLine }: CommandLine,
  file: string,
  { replace = false, ...options }: RestoreOptions,
): Promise<Restored> {
  const settings = commandLine.settings();
  const keys = await existingMasterKeys(settings);
  const place = {
    environment: settings.environment,
    vault: keys && openVault(keys),
    masterKeyPlace: masterKeyPlace(settings),
  };
  await checkBackup(place, file);
  const { database, databaseUrl, close } = await connectFromSettings(settings, {
    // Alone: no service may use the folder meanwhile.
    role: 'service',
    name: 'perennial restore',
    attempts: 3,
    log: progress(options),
  });
  try {
    return await restoreBackup({ ...place, database, databaseUrl, actor: actor() }, { file, replace });
  } finally {
    await close();
  }
}

/** On the database as it is: looking makes nothing, whatever is missing. */
async function restoreCheck({ progress, ...commandLine }: CommandLine, options: JsonOption): Promise<RestoreCheck> {
  const settings = commandLine.settings();
  const { environment } = settings;
  const opened = await openToLook(settings, { role: 'tool', mustExist: true, attempts: 3, log: progress(options) });
  try {
    return await checkRestored({ ...opened, environment, actor: actor() });
  } finally {
    await opened.close();
  }
}

function backupText(made: BackupFile & { readonly masterKeyIn: string }): Shown {
  return paragraphs([
    record([
      ['File', made.file],
      ['As of', made.takenAt],
      ['Rows', `${made.rows} in ${made.tables} tables`],
      ['Bytes', `${made.bytes}`],
    ]),
    shown`The master key ${made.masterKeyId} is not in the file, and without it the file is worth nothing. It is in ${made.masterKeyIn}: keep a copy of it, apart from this one.`,
    ...(made.otherKeyIds.length === 0
      ? []
      : [
          shown`Some of what is in it may need ${made.otherKeyIds.join(', ')} too (master-key status): keep all of them.`,
        ]),
  ]);
}

function restoreText({ takenAt, tables, rows, skipped }: Restored): Shown {
  return paragraphs([
    shown`${rows} rows in ${tables} tables are as they were at ${takenAt}`,
    skippedText(skipped),
    lines([
      'Before it goes into service: restore-check says what it would do, and ENGINE=off starts it without doing it.',
    ]),
  ]);
}

function leftOutText({ behind, skipped }: LeftOut): Shown {
  const moved = behind.map(
    (name) => `The sequence ${name} was behind the numbers that are used, and is above them now.`,
  );
  return paragraphs([...(moved.length === 0 ? [] : [lines(moved)]), skippedText(skipped)]);
}

function skippedText(skipped: readonly SkippedNumbers[]): Shown {
  return table(
    ['NUMBERS', 'LAST', 'GO ON AFTER'],
    skipped.map(({ name, from, to }) => [name, from, to]),
  );
}

function checkText({ lastWriteAt, secondsAgo, waiting, lagging, masterKey, problems }: RestoreCheck): Shown {
  const due = waiting.map(({ what, count, oldest, amountCent }) => [
    what,
    `${count}`,
    oldest ?? '-',
    amountCent === null ? '-' : money(amountCent),
  ]);
  const late = lagging.map(({ name, next, highest }) => [name, next, highest]);
  const verdict = shown`${problems.length === 0 ? 'OK: the engine may be switched on' : `NOT OK: ${problems.join('; ')}`}`;
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
