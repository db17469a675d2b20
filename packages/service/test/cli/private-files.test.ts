import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoChannel } from '../support/demo.js';
import { type TestService, testService } from '../support/service.js';
import { BIN } from './perennial.js';

let service: TestService;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-files-'));
  service = await testService();
  await demoChannel(service);
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

const run = promisify(execFile);
const modeOf = async (file: string) => ((await stat(file)).mode & 0o777).toString(8);

/** Runs the command with a umask that would let other users read new files. */
async function report(file: string): Promise<void> {
  const args = ['settlement', 'report', '--channel', 'test_demo', '--month', '2026-01', '--output', file];
  await run('sh', ['-c', 'umask 022; exec "$0" "$@"', process.execPath, BIN, ...args], {
    env: { PATH: process.env['PATH'] ?? '', DATABASE_URL: service.fresh.url, DATA_DIR: folder },
  });
}

describe('a file that a command writes is readable only by its owner', () => {
  it('settlement report --output: a new file, and one that replaces a world-readable file', async () => {
    const made = path.join(folder, 'new.json');
    await report(made);
    expect(await modeOf(made)).toBe('600');
    const file = path.join(folder, 'old.json');
    await writeFile(file, 'before');
    await chmod(file, 0o644);
    await report(file);
    expect(await modeOf(file)).toBe('600');
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ month: '2026-01' });
  });

  it('settlement report --output: anything but a file is left alone', async () => {
    const [inside, pipe] = [path.join(folder, 'a-folder'), path.join(folder, 'a-pipe')];
    await mkdir(inside);
    await run('mkfifo', [pipe]);
    const before = await readdir(folder);
    for (const there of [inside, pipe]) {
      await expect(report(there)).rejects.toMatchObject({
        stderr: `perennial: the report cannot be written: ${there} is not a file\n`,
      });
    }
    expect((await stat(pipe)).isFIFO()).toBe(true);
    expect(await readdir(folder)).toEqual(before);
  });
});
