import { access, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { showChannel } from '../../src/operator/provisioning/channels.js';
import { openDatabaseFromSettings } from '../../src/platform/installation/open-database.js';
import { readSettings } from '../../src/platform/settings.js';
import { preparedDataDir } from '../support/data-dir.js';
import { perennial, perennialProcess } from './perennial.js';

/** Only DATA_DIR is set, so the commands use the embedded database. */
let dataDir: string;

beforeAll(async () => {
  dataDir = await preparedDataDir();
});
afterAll(() => rm(dataDir, { recursive: true }));

const run = (...args: readonly string[]) => perennialProcess(args, { DATA_DIR: dataDir });

describe('without a database', () => {
  const refused = (folder: string) =>
    `there is no database in ${folder}: start the service to create one, or choose another DATA_DIR`;

  it('in a missing folder: fails and creates neither folder nor database', async () => {
    const folder = path.join(dataDir, 'mistyped');
    const ran = await perennialProcess(['alert', 'list'], { DATA_DIR: folder });
    expect(ran).toEqual({ code: 1, stdout: '', stderr: `perennial: ${refused(folder)}\n` });
    await expect(access(folder)).rejects.toThrow('ENOENT');
  });

  it('in production: asks for DATABASE_URL, because no service creates a database there', async () => {
    const folder = path.join(dataDir, 'mistyped');
    const env = { SVC_ENVIRONMENT: 'production', MASTER_KEY: Buffer.alloc(32).toString('base64'), DATA_DIR: folder };
    const error = 'DATABASE_URL is required in production: the embedded database is for trials only';
    for (const args of [['channel', 'list'], ['migrate']])
      expect(await perennial(args, env)).toEqual({ code: 1, stdout: '', stderr: `perennial: ${error}\n` });
  });

  it('in a folder with other files: fails and changes nothing', async () => {
    const folder = path.join(dataDir, 'another');
    await mkdir(path.join(folder, 'postgres'), { recursive: true });
    await writeFile(path.join(folder, 'letter.txt'), '');
    const ran = await perennial(['channel', 'create', '--name', 'Lost', '--json'], { DATA_DIR: folder });
    expect(ran).toEqual({ code: 1, stdout: '', stderr: `${JSON.stringify({ error: refused(folder) })}\n` });
    expect((await readdir(folder)).toSorted()).toEqual(['letter.txt', 'postgres']);
  });
});

describe('on the embedded database', () => {
  beforeAll(async () => {
    const service = await openDatabaseFromSettings(readSettings({ DATA_DIR: dataDir }), {
      role: 'service',
      log: () => undefined,
    });
    await service.close();
  });

  it('works without a service: starts the server, commits its work and stops the server', async () => {
    const made = await run('channel', 'create', '--name', 'Alone', '--app-id', 'test_alone');
    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('test_alone') });
    expect(made.stdout).not.toContain('database');
    expect(made.stderr).toContain('database');
    const list = await run('channel', 'list', '--json');
    expect(list).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(list.stdout)).toMatchObject({ items: [{ appId: 'test_alone' }] });
  });

  it('works beside a running service, which sees the change at once; accepts callbacks to this machine', async () => {
    const settings = readSettings({ DATA_DIR: dataDir });
    const service = await openDatabaseFromSettings(settings, { role: 'service', log: () => undefined });
    try {
      const operator = { ...service, environment: settings.environment, actor: 'test' };
      expect(await run('channel', 'suspend', 'test_alone')).toEqual({
        code: 0,
        stdout: 'test_alone is suspended\n',
        stderr: '',
      });
      expect(await showChannel(operator, { appId: 'test_alone' })).toMatchObject({ status: 'SUSPENDED' });
      const [set, refused] = await Promise.all(
        ['http://localhost:3000/events', 'http://192.168.1.1/events'].map((url) =>
          perennial(['channel', 'set-callback', 'test_alone', url, '--json'], { DATA_DIR: dataDir }),
        ),
      );
      expect(JSON.parse(set?.stdout ?? '')).toMatchObject({ callbackUrls: [{ url: 'http://localhost:3000/events' }] });
      expect(refused).toMatchObject({ code: 1, stdout: '' });
      const several = await Promise.all([1, 2].map((n) => run('channel', 'create', '--name', `Beside ${n}`)));
      expect(several.map(({ code }) => code)).toEqual([0, 0]);
      expect(await service.database.query('select count(*) from channels')).toEqual([{ count: 3 }]);
    } finally {
      await service.close();
    }
  });

  it('several at once without a service share one server', async () => {
    const several = await Promise.all([1, 2, 3].map((n) => run('channel', 'create', '--name', `Together ${n}`)));
    expect(several.map(({ code }) => code)).toEqual([0, 0, 0]);
    const list = await run('channel', 'list', '--json');
    expect(JSON.parse(list.stdout).items).toHaveLength(6);
  });
});
