import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../support/processes.js';

interface Outcome {
  readonly rows: { readonly row: string; readonly failure?: string; readonly ratios?: Record<string, number> }[];
}

const FAILED = 'list: everything, the 50th page of 200';
const AFTER_IT = 'user: all of a user';

let folder: string;
const fileNamed = (name: string) => path.join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-bench-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function bench(...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const program = path.join(packageRoot, 'bench', 'main.mjs');
    const child = execFile(process.execPath, [program, ...args], (_error, stdout, stderr) =>
      resolve({ status: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

const readOutcome = async (name: string): Promise<Outcome> => JSON.parse(await readFile(fileNamed(name), 'utf8'));

/** Each starts the bench, which loads much: seconds where a machine has much else to do. */
const LIMIT_MS = 240_000;

describe('a bench keeps what it has measured', () => {
  it(
    'prints the rows before and after one that fails, says why that did, and tells by its status',
    async () => {
      // So few orders have no 50th page.
      const tiny = ['--orders', '30', '--channels', '2', '--runs', '1', '--rows', 'lists'];
      const { status, stdout, stderr } = await bench('console', ...tiny, '--json', fileNamed('result.json'));
      expect(stdout, stderr).toMatch(/^list +everything {2,}\d/m);
      expect(stdout).toMatch(new RegExp(`^${FAILED} +failed: the cursor was given for another list$`, 'm'));
      expect(stdout).toMatch(/^user +all of a user {2,}\d/m);
      expect(status).toBe(1);

      const { rows } = await readOutcome('result.json');
      expect(rows.filter(({ failure }) => failure !== undefined).map(({ row }) => row)).toEqual([FAILED]);
      expect(rows.find(({ row }) => row === AFTER_IT)?.ratios).toEqual({ 'a look-up': expect.any(Number) });
    },
    LIMIT_MS,
  );

  it(
    'compares its ratios with a baseline, and tells a worse one by its status',
    async () => {
      const whole = await readOutcome('result.json');
      const baseline = fileNamed('baseline.json');
      const refused = await bench('console', '--from', fileNamed('result.json'), '--write-baseline', baseline);
      expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining(`${FAILED} failed`) });

      const keep = (name: string, rows: Outcome['rows']) =>
        writeFile(fileNamed(name), JSON.stringify({ ...whole, rows }));
      const measured = whole.rows.filter(({ failure }) => failure === undefined);
      await keep('measured.json', measured);
      const written = await bench('console', '--from', fileNamed('measured.json'), '--write-baseline', baseline);
      expect(written).toMatchObject({ status: 0, stderr: '' });

      const same = await bench('console', '--from', fileNamed('measured.json'), '--compare', baseline);
      expect(same.stdout).toMatch(/^user: all of a user +a look-up .* as before$/m);
      expect(same.stdout).toContain('more than 25 % below');
      expect(same.status).toBe(0);

      const slower = measured.map((one) =>
        one.row === AFTER_IT ? { ...one, ratios: { 'a look-up': (one.ratios?.['a look-up'] ?? 0) * 0.7 } } : one,
      );
      await keep('slower.json', slower);
      const worse = await bench('console', '--from', fileNamed('slower.json'), '--compare', baseline);
      expect(worse.stdout.match(/.* worse$/gm)).toEqual([
        expect.stringMatching(/^user: all of a user .* -30% +worse$/),
      ]);
      expect(worse.status).toBe(2);
      const tolerated = await bench(
        'console',
        '--from',
        fileNamed('slower.json'),
        '--compare',
        baseline,
        '--tolerance',
        '40',
      );
      expect(tolerated.status).toBe(0);
    },
    LIMIT_MS,
  );
});
