import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { channelClient, type Reply } from '../support/channel-client.js';
import { MAIN, type Running, serviceUrl, until, watch } from '../support/processes.js';
import { sampleValue, scrape } from '../support/scrape.js';

/** A service whose data folder is a small file system, filled and freed on command. */
const SCRIPT = `
  mount -t tmpfs -o size=160m,mode=0700 tmpfs "$DATA_DIR" || exit 9
  "$NODE" "$MAIN" & service=$!
  while read -r command; do
    case "$command" in
      show) cat "$DATA_DIR/demo-channel.json"; echo ;;
      fill) dd if=/dev/zero of="$DATA_DIR/ballast" bs=64k 2>/dev/null; echo filled ;;
      free) rm -f "$DATA_DIR/ballast"; echo freed ;;
    esac
  done
  kill -TERM $service; wait $service
`;

let dataDir: string;
let running: Running;

afterAll(async () => {
  running.child.stdin?.end();
  await running.exited;
  await rm(dataDir, { recursive: true, force: true });
});

it('a full disk: 503001 and not ready meanwhile, recovers without a restart once there is room, and an alert', async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'perennial-full-'));
  // An ordinary user may mount inside its own user namespace.
  const asOrdinaryUser = process.getuid?.() === 0 ? [] : ['--user', '--map-current-user', '--keep-caps'];
  running = watch(
    spawn('unshare', [...asOrdinaryUser, '--mount', 'sh', '-c', SCRIPT], {
      env: {
        PATH: process.env['PATH'],
        NODE: process.execPath,
        MAIN,
        DATA_DIR: dataDir,
        PORT: '0',
        LOG_LEVEL: 'warn',
        LOG_FORMAT: 'json',
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    }),
  );
  const tell = async (command: string, answer: RegExp) => {
    running.child.stdin?.write(`${command}\n`);
    return until(`answer to ${command}`, () => running.stdout().match(answer)?.[0]);
  };
  const baseUrl = await serviceUrl(running);
  const demo = await until('the demo channel', () => tell('show', /\{\s*"appId"[^}]*\}/));
  const client = channelClient(baseUrl, JSON.parse(demo));
  expect((await client.call('products/list', {})).code).toBe('0');

  await tell('fill', /^filled$/m);
  const refused = await firstThat((reply) => reply.status !== 200 && reply.status !== 429);
  expect(refused.status).toBe(503);
  expect(refused.code).toBe('503001');
  expect(refused.text).not.toMatch(/space|disk|extend/i);
  const isReady = async () => (await fetch(`${baseUrl}/readyz`)).status === 200;
  const isWritable = async () => sampleValue(await scrape(baseUrl), 'perennial_database_writable');
  // Asks a hundred times: the node must not become ready while the disk is full.
  for (let asked = 0; asked < 100; asked += 1) expect(await isReady()).toBe(false);
  expect(await isWritable()).toBe(0);
  expect(running.stdout()).toContain('the database cannot write');

  await tell('free', /^freed$/m);
  await until('ready again', isReady);
  expect(await isWritable()).toBe(1);
  await until('the alert, in the log of this node', () => running.stdout().includes('"kind":"database-full"'));
  await until('well again', async () => (await client.call('products/list', {})).code === '0');
  expect(running.child.exitCode).toBeNull();

  /**
   * Sends requests until an answer fulfils the condition. Every request writes a nonce, so eventually one needs a disk
   * page that cannot be allocated.
   */
  async function firstThat(holds: (reply: Reply) => boolean): Promise<Reply> {
    for (let sent = 0; sent < 20_000; sent += 10) {
      const replies = await Promise.all(Array.from({ length: 10 }, () => client.call('products/list', {})));
      const found = replies.find(holds);
      if (found) return found;
    }
    throw new Error('a full disk was never noticed');
  }
});
