import type { Command } from 'commander';
import { paragraphs, type SafeText, safeText } from '../../../operations/command/safe-text.js';
import { record, table } from '../../../operations/command/table.js';
import { type MasterKeyStatus, readMasterKeyStatus, rewrapKeys } from '../../../operator/copies/master-key.js';
import { addCommand, type CommandLine, type JsonOption } from '../../frame/command.js';

export function addMasterKeyCommands(perennial: Command, { perform }: CommandLine): void {
  const masterKey = perennial.command('master-key').description('the key that protects all others');

  addCommand(masterKey, 'status', 'which master key protects what, and whether all of it can be opened', [
    'status',
  ]).action((options: JsonOption) => perform(options, readMasterKeyStatus, statusText, ({ allOpen }) => allOpen));

  addCommand(
    masterKey,
    'rewrap',
    'protect every other key with the current MASTER_KEY, so that the previous one can go',
    ['rewrap'],
  ).action((options: JsonOption) =>
    perform(
      options,
      rewrapKeys,
      ({ rewrapped, already }) =>
        `${rewrapped} keys were rewrapped, ${already} were under the current MASTER_KEY already`,
    ),
  );
}

function statusText(status: MasterKeyStatus): SafeText {
  const { currentKeyId, previousKeyIds, keys, channelSecrets, allOpen, isRewrapped } = status;
  const secrets = [
    'secrets of channels',
    'under their data keys',
    `${channelSecrets.count}`,
    `${channelSecrets.opened}`,
  ];
  const rows = keys.map(({ what, keyId, count, opened }) => [what, keyId, `${count}`, `${opened}`]);
  return paragraphs([
    record([
      ['Current key', currentKeyId],
      ['Previous keys', previousKeyIds.join(', ') || 'none'],
    ]),
    table(['WHAT', 'MASTER KEY', 'COUNT', 'OPENED'], [...rows, secrets]),
    safeText`${verdictText(allOpen, isRewrapped)}`,
  ]);
}

function verdictText(allOpen: boolean, isRewrapped: boolean): string {
  if (!allOpen) return 'NOT ALL OPEN: the master key of what does not open must be in MASTER_KEY_PREVIOUS';
  return isRewrapped
    ? 'ALL OPEN: everything is under the current key'
    : 'ALL OPEN, not all of it under the current key: run master-key rewrap before the previous one goes';
}
