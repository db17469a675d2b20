import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openVault } from '../../src/platform/secrets/vault.js';
import type { ChannelClient } from '../support/channel-client.js';
import { collectRequest, demoChannel, mobileOf } from '../support/demo.js';
import { type TestService, testService } from '../support/service.js';
import { BIN } from './perennial.js';

let service: TestService;
let channel: ChannelClient;
let folder: string;
const MASTER_KEY = randomBytes(32);
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-files-'));
  service = await testService({ vault: openVault([MASTER_KEY]) });
  channel = await demoChannel(service);
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

const run = promisify(execFile);
const modeOf = async (file: string) => ((await stat(file)).mode & 0o777).toString(8);

/** Runs the command with a umask that would let other users read new files. */
const openly = (...args: readonly string[]) =>
  run('sh', ['-c', 'umask 022; exec "$0" "$@"', process.execPath, BIN, ...args], {
    env: {
      PATH: process.env['PATH'] ?? '',
      DATABASE_URL: service.fresh.url,
      DATA_DIR: folder,
      MASTER_KEY: MASTER_KEY.toString('base64'),
    },
  });
const report = (file: string) =>
  openly('settlement', 'report', '--channel', 'test_demo', '--month', '2026-01', '--output', file);

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

  it('user export writes everything about a user, decrypted, to --output or to standard output', async () => {
    const request = collectRequest(channel);
    await channel.call('orders/create', request);
    const { channelUserId, externalOrderNo } = request;
    const file = path.join(folder, 'user.json');
    await openly('user', 'export', 'test_demo', channelUserId, '--output', file);
    expect(await modeOf(file)).toBe('600');
    const saved = JSON.parse(await readFile(file, 'utf8'));
    expect(saved).toMatchObject({ channelUserId, mobile: mobileOf(channelUserId), orders: [{ externalOrderNo }] });
    const { stdout } = await openly('user', 'export', 'test_demo', channelUserId);
    expect(JSON.parse(stdout)).toMatchObject({
      ...saved,
      audit: [{ action: 'user.export' }, { action: 'user.export' }],
    });
  });
});
