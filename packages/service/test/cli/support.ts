import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect } from 'vitest';
import { dump } from '../operator/support.js';
import type { FreshDatabase } from '../support/database.js';
import { perennial, type Ran } from './perennial.js';

export type Refusal = readonly [reason: RegExp, ...args: string[]];

/** The command line of an installation, with its own folder, for the tests of a file. */
export function commandLine(fresh: () => FreshDatabase, more: Readonly<Record<string, string>> = {}) {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'perennial-cli-'));
  afterAll(() => rmSync(dataDir, { recursive: true }));
  const settings = () => ({ DATABASE_URL: fresh().url, DATA_DIR: dataDir, ...more });
  const run = (...args: readonly string[]): Promise<Ran> => perennial(args, settings());
  /** Returns the output of a command that succeeds. */
  async function text(...args: readonly string[]): Promise<string> {
    const ran = await run(...args);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    return ran.stdout;
  }
  return {
    dataDir,
    settings,
    run,
    text,
    json: async (...args: readonly string[]) => JSON.parse(await text(...args, '--json')),
    /**
     * Expects each command to fail with exit code 1 and one line (every second time as JSON), and to change nothing.
     */
    async expectRefusals(refusals: readonly Refusal[]): Promise<void> {
      const before = await dump(fresh().database);
      for (const [position, [reason, ...args]] of refusals.entries()) {
        const asJson = position % 2 === 0;
        const ran = await run(...args, ...(asJson ? ['--json'] : []));
        expect(ran, args.join(' ')).toMatchObject({ code: 1, stdout: '' });
        expect(asJson ? JSON.parse(ran.stderr).error : ran.stderr).toMatch(reason);
        expect(ran.stderr).toMatch(/^[^\n]+\n$/);
      }
      expect(await dump(fresh().database)).toBe(before);
    },
  };
}
