import { expect } from 'vitest';
import { openDatabaseFromSettings } from '../../src/platform/installation/open-database.js';
import { PlainError } from '../../src/platform/plain-error.js';
import { readSettings } from '../../src/platform/settings.js';

/**
 * Opens the database in the test process and returns the one-line error. A child process would take a second;
 * settings.test.ts tests the whole program.
 */
export async function openingRefusal(env: Readonly<Record<string, string>>): Promise<string> {
  const opening = openDatabaseFromSettings(readSettings(env), { role: 'service', log: () => undefined });
  const error = await opening.then(
    async (opened) => {
      await opened.close();
      return undefined;
    },
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(PlainError);
  expect(error.message).not.toContain('\n');
  return error.message;
}
