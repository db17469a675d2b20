import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openJournal } from '../src/shared/journal.js';

it('a ledger is for its owner alone, also one that was there', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-journal-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'ledger', 'journal');
  const modeOf = async () => ((await stat(file)).mode & 0o777).toString(8);
  await (await openJournal(file, () => undefined)).close();
  expect(await modeOf()).toBe('600');
  await chmod(file, 0o644);
  await (await openJournal(file, () => undefined)).close();
  expect(await modeOf()).toBe('600');
});
