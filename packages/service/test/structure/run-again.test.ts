import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../support/processes.js';

/** Tests that fail, one with a name that neither a shell nor a regular expression would take as it is. */
const TESTS = `
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

describe('a (group) of "some"', () => {
  it("0: it's $5 a month | 50%", () => expect(1).toBe(2));
  it("0: it's $5 a month | 50% and more", () => expect(1).toBe(2));
});
it('draws its numbers', () => fc.assert(fc.property(fc.nat(), (n) => n < 5)));
it('has a command of its own', () => expect.fail('wrong\\n\\nAgain: MONTH=2 npm test'));
it('passes', () => undefined);
`;
const BROKEN = `import './not-there.js';`;

const support = path.join(packageRoot, 'test', 'support');
const modules = path.join(packageRoot, '..', '..', 'node_modules');
const CONFIG = `
import { againReporter } from '${support}/again-reporter.ts';
export default {
  test: {
    reporters: ['default', againReporter()],
    projects: [{
      test: {
        name: 'some',
        include: ['*.test.js'],
        setupFiles: process.env.FAST_CHECK_SEED ? ['${support}/fast-check-seed.ts'] : [],
      },
    }],
  },
};`;

let folder: string;
let output: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-again-'));
  await symlink(modules, path.join(folder, 'node_modules'));
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(path.join(folder, 'vitest.config.js'), CONFIG);
  await writeFile(path.join(folder, 'all.test.js'), TESTS);
  await writeFile(path.join(folder, 'broken.test.js'), BROKEN);
  output = await printed('npx vitest run');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Everything that a command says in the folder, in the order in which it is said and without colours. */
function printed(command: string): Promise<string> {
  const { PATH = '', HOME = '' } = process.env;
  return new Promise((resolve) => {
    const env = { PATH, HOME, NO_COLOR: '1' };
    execFile('sh', ['-c', `exec 2>&1; ${command}`], { cwd: folder, env }, (_failed, said) => resolve(said));
  });
}

const commands = (text = output) =>
  (text.split('Again, what failed:')[1] ?? '')
    .trim()
    .split('\n')
    .map((line) => line.trim());

describe('a run that fails ends with commands', () => {
  it('one for each test that failed, and one for a file that could not be loaded', () => {
    expect(commands().toSorted()).toEqual([
      expect.stringMatching(
        /^FAST_CHECK_SEED=-?\d+ npx vitest run --project some all.test.js -t '\^draws its numbers\$'$/,
      ),
      'MONTH=2 npm test',
      String.raw`npx vitest run --project some all.test.js -t '^a \(group\) of "some" 0: it.s \$5 a month \| 50% and more$'`,
      String.raw`npx vitest run --project some all.test.js -t '^a \(group\) of "some" 0: it.s \$5 a month \| 50%$'`,
      'npx vitest run --project some broken.test.js',
    ]);
  });

  it('which run that test and no other', async () => {
    const command = commands().find((one) => one.endsWith("50%$'")) ?? '';
    const again = await printed(command);
    expect(again).toMatch(/Tests +1 failed \| 4 skipped \(5\)/);
    expect(commands(again)).toEqual([command]);
  });

  it('which draw what was drawn', async () => {
    const command = commands().find((one) => one.startsWith('FAST_CHECK_SEED')) ?? '';
    const counterexample = (text: string) => /Counterexample: .*/.exec(text)?.[0];
    const again = await printed(command);
    expect(commands(again)).toEqual([command]);
    expect(counterexample(again)).toBe(counterexample(output));
  });
});
