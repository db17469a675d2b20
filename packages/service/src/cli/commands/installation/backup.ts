import type { Command } from 'commander';
import { paragraphs, type SafeText, safeLines, safeText } from '../../../operations/command/safe-text.js';
import { record, table } from '../../../operations/command/table.js';
import { type Adopted, adoptInstallation } from '../../../operator/copies/adoption.js';
import { type NumbersSkipped, recordOtherBackup, skipUsedNumbers } from '../../../operator/copies/backups.js';
import { checkRestoredDatabase, type RestoreCheck } from '../../../operator/copies/restore-check.js';
import { formatAmount } from '../../../operator/money.js';
import { openExistingDatabase } from '../../../platform/installation/open-database.js';
import { actorName, addCommand, type CommandLine, type JsonOption } from '../../frame/command.js';

export function addBackupCommands(perennial: Command, commandLine: CommandLine): void {
  const { perform, show } = commandLine;
  addCommand(perennial, 'backup-record', 'record that a backup was made now, for its age in /metrics', [
    'backup-record',
  ]).action((options: JsonOption) =>
    perform(options, recordOtherBackup, () => safeText`Recorded: a backup was made now.`),
  );

  addCommand(
    perennial,
    'restore-check',
    'show what a restored database would do once its engine is on; changes nothing',
    ['restore-check'],
  ).action(async (options: JsonOption) => {
    show(options, await restoreCheck(commandLine, options), restoreCheckText, ({ problems }) => problems.length === 0);
  });

  const numbers = perennial.command('numbers').description('numbers of orders, agreements and events');
  addCommand(numbers, 'skip', 'skip numbers that may have been used since the backup was made', ['skip']).action(
    (options: JsonOption) => perform(options, skipUsedNumbers, leftOutText),
  );

  const installation = perennial.command('installation').description('the database that the service runs on');
  addCommand(
    installation,
    'adopt',
    'let nodes work on a database that was restored elsewhere or moved, once the original is out of use',
    ['adopt'],
  ).action((options: JsonOption) => perform(options, adoptInstallation, adoptedText));
}

function adoptedText({ adopted }: Adopted): string {
  return adopted
    ? 'This database is the installation now: waiting nodes start within seconds. Never adopt a copy while the original is in use.'
    : 'Nothing to do: this database is the installation already.';
}

/** Checks the database as it is, without creating or changing anything. */
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

function leftOutText({ behind, skipped }: NumbersSkipped): SafeText {
  const moved = behind.map(
    (name) => `The sequence ${name} was behind the numbers that are used, and is above them now.`,
  );
  const rows = skipped.map(({ name, from, to }) => [name, from, to]);
  return paragraphs([
    ...(moved.length === 0 ? [] : [safeLines(moved)]),
    table(['NUMBERS', 'LAST', 'CONTINUE AFTER'], rows),
  ]);
}

function restoreCheckText(check: RestoreCheck): SafeText {
  const { lastWriteAt, secondsAgo, waiting, lagging, masterKey, erasures, currency, problems } = check;
  const due = waiting.map(({ what, count, oldest, amountCent }) => [
    what,
    `${count}`,
    oldest ?? '-',
    amountCent === null ? '-' : formatAmount(amountCent, currency),
  ]);
  const late = lagging.map(({ name, next, highest }) => [name, next, highest]);
  const condition = check.needsAdoption ? '; nodes wait for: perennial installation adopt' : '';
  const verdict = safeText`${problems.length === 0 ? `OK: no problem found, continue with the next step of the restore${condition}` : `NOT OK: ${problems.join('; ')}`}`;
  if (due.length === 0) return verdict;
  return paragraphs([
    record([
      ['Last write', lastWriteAt === null ? 'none' : `${lastWriteAt}, ${ago(secondsAgo ?? 0)} ago`],
      [
        'Master key',
        `${masterKey.currentKeyId}, ${masterKey.allOpen ? 'opens everything' : 'does not open everything'}`,
      ],
      ['Sequences', lagging.length === 0 ? 'all above the numbers in use' : `${lagging.length} lag behind`],
      [
        'Erased users',
        `${erasures.count}${erasures.latestAt === null ? '' : `, the latest ${erasures.latestAt}`}; repeat later erasures: perennial user repeat-erasures <file>`,
      ],
    ]),
    ...(late.length === 0 ? [] : [table(['SEQUENCE', 'NEXT', 'HIGHEST IN USE'], late)]),
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
