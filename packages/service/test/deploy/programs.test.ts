import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.js';
import { startHaproxy } from '../support/haproxy.js';
import { listen } from '../support/listen.js';
import { packageRoot, until } from '../support/processes.js';

const at = (name: string) => path.join(packageRoot, '..', '..', 'deploy', name);
const haproxy = process.env['HAPROXY'] ?? 'haproxy';
const nginx = process.env['NGINX'] ?? 'nginx';
const systemd = '/usr/bin/systemd-analyze';

async function accepts(program: string, args: string[]): Promise<void> {
  const { stdout, stderr } = await promisify(execFile)(program, args, { env: { PATH: process.env['PATH'] } }).catch(
    (error) => error,
  );
  expect(`${stdout}${stderr}`).not.toMatch(/\[ALERT\]|emerg|\berror\b|fatal|ignoring|Unknown|ENOENT/i);
}

it.each(['haproxy/haproxy.cfg', 'docker/haproxy.cfg'])('haproxy accepts deploy/%s', (name) =>
  accepts(haproxy, ['-c', '-f', at(name)]),
);

it('haproxy accepts deploy/cells/haproxy.cfg', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-deploy-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [file, map] = [path.join(folder, 'haproxy.cfg'), path.join(folder, 'app-ids.map')];
  await writeFile(map, 'partner_one cell_1\n');
  // Other places, because this machine has neither the map nor the group.
  const text = await readFile(at('cells/haproxy.cfg'), 'utf8');
  await writeFile(file, text.replaceAll('/etc/haproxy/cells/app-ids.map', map).replace(' group perennial', ''));
  await accepts(haproxy, ['-c', '-f', file]);
});

/** Starts haproxy in front of servers that answer `status` on /readyz and 200 to requests. */
async function proxyTo(status: number, { servers, checkMs }: { servers: number; checkMs: number }) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-deploy-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const nodePorts: number[] = [];
  for (let n = 1; n <= 3; n += 1) {
    const server = http.createServer(({ url }, response) => response.writeHead(url === '/readyz' ? status : 200).end());
    nodePorts.push(n <= servers ? await listen(server) : await freePort());
  }
  const frontPort = await freePort();
  const proxy = await startHaproxy({
    ...{ program: haproxy, folder, frontPort, statisticsPort: await freePort(), nodePorts, checkMs },
  });
  onTestFinished(() => proxy.stop());
  return { proxy, ask: async () => (await fetch(`http://127.0.0.1:${frontPort}/developers`)).status };
}

it('haproxy sends requests to nodes that are not ready if no node is ready', async () => {
  const { proxy, ask } = await proxyTo(503, { servers: 3, checkMs: 100 });
  await until('no node is ready', async () => (await proxy.figures()).every(({ isUp }) => !isUp) || undefined);
  expect(await ask()).toBe(200);
});

it('haproxy sends a request to another node when a node refuses its connection', async () => {
  const { proxy, ask } = await proxyTo(200, { servers: 2, checkMs: 600_000 });
  for (const _ of [1, 2, 3]) expect(await ask()).toBe(200);
  const [, , refusing] = await proxy.figures();
  expect(refusing?.isUp).toBe(true);
  expect(refusing?.retries).toBeGreaterThan(0);
});

it('nginx accepts deploy/nginx/perennial.conf', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-deploy-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'nginx.conf');
  // Sets other folders, because only root may write to the default folders of Debian's nginx.
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  await writeFile(
    file,
    `pid ${folder}/pid; events {} http { access_log off; ${places.join(' ')} include ${at('nginx/perennial.conf')}; }`,
  );
  await accepts(nginx, ['-t', '-c', file, '-e', path.join(folder, 'error.log')]);
});

it.runIf(existsSync(systemd)).each(['perennial@.service', 'perennial-bridge@.service'])(
  'systemd accepts deploy/systemd/%s, and rates its exposure at 2.0 or less',
  async (name) => {
    await accepts(systemd, ['verify', at(`systemd/${name}`)]);
    await accepts(systemd, ['security', '--offline=true', '--threshold=20', at(`systemd/${name}`)]);
  },
);
