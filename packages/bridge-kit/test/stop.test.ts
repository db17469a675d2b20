import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, inject, it, onTestFinished } from 'vitest';
import { debitOf, gate, isRefused, KEY, startWorld, until, type World } from './support/world.js';

/** Sends these bytes and leaves the connection open. Resolves when the bridge has accepted the connection. */
async function connect({ bridge, ask }: World, bytes: string): Promise<net.Socket> {
  const { port, hostname } = new URL(bridge.url);
  const socket = net.connect(Number(port), hostname).on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(bytes);
  // Connections are accepted in order, so after this answer the socket above is accepted too.
  await ask('debit', debitOf('D-AFTER'));
  return socket.resume();
}

it.each<[string, string, { drainMs: number }?]>([
  ['nothing', ''],
  ['half a head', 'POST /debit HTTP/1.1\r\nhost: bridge\r\n'],
  ['no body', 'POST /debit HTTP/1.1\r\nhost: bridge\r\ncontent-length: 9\r\n\r\n', { drainMs: 200 }],
])('a stop does not wait long for a connection on which %s has come', async (_, bytes, options) => {
  const world = await startWorld(options);
  const socket = await connect(world, bytes);
  const closed = once(socket, 'close');
  await world.bridge.stop();
  await closed;
});

it('a webhook that is being read is answered, and its connection does not hold up the stop', async () => {
  const world = await startWorld();
  const { until: letGo, open } = gate();
  const { institution, bridge } = world;
  const read = institution.readWebhook.bind(institution);
  const isRead = gate();
  institution.readWebhook = async (...args) => {
    isRead.open();
    await letGo;
    return read(...args);
  };
  const agent = new http.Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const headers = { 'x-fake-signature': 'good', 'content-type': 'application/json' };
  const request = http.request(`${bridge.url}/webhooks`, { method: 'POST', agent, headers }).end('[]');
  await isRead.until;
  const stopped = bridge.stop();
  await until('the bridge takes no more', () => isRefused(bridge.url));
  open();
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  expect([response.statusCode, await text(response)]).toEqual([200, 'thanks']);
  await stopped;
});

it('a stop does not wait long for a webhook that never completes', async () => {
  const world = await startWorld({ drainMs: 200 });
  const isRead = gate();
  world.institution.readWebhook = () => {
    isRead.open();
    return new Promise(() => undefined);
  };
  const told = world.tell([]).catch(() => 'cut off');
  await isRead.until;
  await world.bridge.stop();
  expect(await told).toBe('cut off');
});

it('a debit at a silent institution is answered, and then the bridge stops', async () => {
  const world = await startWorld({ callMs: 3_000 });
  world.institution.mishaps.set('debit', { until: new Promise(() => undefined) });
  const answer = world.ask('debit', debitOf('D-SILENT'));
  await until('the call', () => world.institution.calls.includes('debit D-SILENT'));
  await world.bridge.stop();
  expect((await answer).fields['status']).toBe('PENDING');
});

it('a bridge whose book has gone silent stops', async () => {
  const lines = new Set<net.Socket>();
  let isSilent = false;
  const real = new URL(inject('bookUrl'));
  const proxy = net.createServer((near) => {
    if (isSilent) return;
    const far = net.connect(Number(real.port), real.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      lines.add(from);
      from.on('error', () => undefined).pipe(to);
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => {
    for (const line of lines) line.destroy();
    proxy.close();
  });
  const url = new URL(real);
  url.port = String((proxy.address() as AddressInfo).port);
  const world = await startWorld();
  const bridge = await world.start({ databaseUrl: url.href });
  isSilent = true;
  for (const line of lines) line.unpipe();
  await bridge.stop();
});

it('a signal ends a bridge that waits for its book', async () => {
  const silent = net.createServer(() => undefined).listen(0, '127.0.0.1');
  onTestFinished(() => void silent.close());
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const bridge = await startProgram(`postgres://bridge@127.0.0.1:${port}/book`);
  const [connection] = (await once(silent, 'connection')) as [net.Socket];
  bridge.kill('SIGTERM');
  expect(await once(bridge, 'exit')).toEqual([0, null]);
  connection.destroy();
});

/** Starts the example bridge. */
async function startProgram(databaseUrl: string): Promise<ChildProcess> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-kit-stop-'));
  const key = path.join(folder, 'key');
  await writeFile(key, KEY.toString('base64'));
  const env = {
    PATH: process.env['PATH'],
    ...{ BANK_URL: 'http://127.0.0.1:9', BANK_TOKEN: 'secret', PORT: '0', MONITORING_PORT: '0' },
    ...{ BRIDGE_KEY_FILE: key, DATABASE_URL: databaseUrl },
  };
  const program = fileURLToPath(new URL('support/crash-node.mjs', import.meta.url));
  const bridge = spawn(process.execPath, [program], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  onTestFinished(async () => {
    bridge.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });
  return bridge;
}
