import type { Command } from 'commander';
import { rewrapKeys } from '../operator/master-key.js';
import { type JsonOption, perform, verb } from './command.js';

export function addMasterKey(perennial: Command): void {
  const masterKey = perennial.command('master-key').description('the key that protects all others');

  verb(masterKey, 'rewrap', 'protect every channel with the current MASTER_KEY, so that the previous one can go', [
    'rewrap',
  ]).action(async (options: JsonOption) => {
    await perform(
      options,
      rewrapKeys,
      ({ channels, paymentChannels }) =>
        `${channels} channels and ${paymentChannels} payment channels are under the current MASTER_KEY`,
    );
  });
}
