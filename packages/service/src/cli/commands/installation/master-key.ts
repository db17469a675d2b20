import type { Command } from 'commander';
import { paragraphs, type SafeText, safeText } from '../../../operations/command/safe-text.js';
import { record, table } from '../../../operations/command/table.js';
import { type MasterKeyStatus, readMasterKeyStatus, rewrapKeys } from '../../../operator/copies/master-key.js';
import { addCommand, type CommandLine, type JsonOption } from '../../frame/command.js';

export function addMasterKeyCommands(perennial: Command, { perform }: CommandLine): void {
  const masterKey = perennial.command('master-key').description('the key that protects all others');

  addCommand(masterKey, 'status', 'show which master key protects which keys, and if all of them can be opened', [
    'status',
  ]).action((options: JsonOption) => perform(options, readMasterKeyStatus, statusText, ({ allOpen }) => allOpen));

  addCommand(
    masterKey,
    'rewrap',
    'protect every other key with the current master key, bound to its row; run it when no older version runs',
    ['rewrap'],
  ).action((options: JsonOption) =>
    perform(
      options,
      rewrapKeys,
      ({ rewrapped, already }) =>
        `${rewrapped} keys were rewrapped, ${already} were already under the current master key`,
    ),
  );
}

function statusText(status: MasterKeyStatus): SafeText {
  const { currentKeyId, previousKeyIds, keys, channelSecrets } = status;
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
    safeText`${verdictText(status)}`,
  ]);
}

function verdictText({ allOpen, isRewrapped, unbound }: MasterKeyStatus): string {
  if (!allOpen) {
    return 'NOT ALL OPEN: add the missing master key to MASTER_KEY_PREVIOUS; keys that a known master key does not open were changed in the database';
  }
  if (unbound > 0)
    return `ALL OPEN, but ${unbound} not bound to their rows: run master-key rewrap when no older version runs`;
  return isRewrapped
    ? 'ALL OPEN: everything is under the current key'
    : 'ALL OPEN, but not all under the current key: run master-key rewrap before you remove the previous key';
}
