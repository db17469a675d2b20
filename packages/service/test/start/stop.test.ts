import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { openDatabaseFromSettings } from '../../src/platform/installation/open-database.js';
import { readSettings } from '../../src/platform/settings.js';
import { gate as newGate } from '../agreements/support.js';
import { channelClient, send } from '../support/channel-client.js';
import { preparedDataDir } from '../support/data-dir.js';
import { lockWaits } from '../support/database.js';
import {
  LEDGER_NODE,
  ledgerPort,
  postmasterPid,
  SHIPPED_MAIN,
  serviceUrl,
  start,
  until,
} from '../support/processes.js';

/** A data folder shared by all tests: however a service was stopped, the next one must start. */
let dataDir: string;
beforeAll(async () => {
  dataDir = await preparedDataDir();
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  it('ends the service with 0 and stops its database cleanly', async () => {
    const running = start(SHIPPED_MAIN, { DATA_DIR: dataDir, PORT: '0' });
    const baseUrl = await serviceUrl(running);
    const postmaster = postmasterPid(dataDir);
    expect((await send(baseUrl, 'GET', '/readyz', {}, Buffer.alloc(0))).status).toBe(200);
    // Sends more than one signal, as a terminal and npm do together.
    running.child.kill(signal);
    running.child.kill('SIGTERM');
    running.child.kill('SIGINT');
    expect(await running.exited).toBe(0);
    expect(isAlive(postmaster)).toBe(false);
    expect(await readFile(path.join(dataDir, 'postgres.log'), 'utf8')).toMatch(/database system is shut down\n$/);
  });
});

it('an uncaught error is logged and stops the service in order, with exit code 1', async () => {
  const onSignal = `process.on('SIGUSR2', () => void Promise.reject(new Error('nobody waits for this')))`;
  const running = start('--import', { DATA_DIR: dataDir, PORT: '0' }, [
    `data:text/javascript,${encodeURIComponent(onSignal)}`,
    SHIPPED_MAIN,
  ]);
  await serviceUrl(running);
  const postmaster = postmasterPid(dataDir);
  running.child.kill('SIGUSR2');
  expect(await running.exited).toBe(1);
  expect(isAlive(postmaster)).toBe(false);
  const lines = running
    .stdout()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 'fatal', err: expect.objectContaining({ message: 'nobody waits for this' }) }),
  );
  expect(lines.at(-1)).toMatchObject({ msg: 'stopped' });
});

it('drains: finishes requests in flight, begins none, and is not delayed by kept-alive or silent connections', async () => {
  const env = { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'silent' };
  const opened = await openDatabaseFromSettings(readSettings(env), { role: 'tool', log: () => undefined });
  const { database } = opened;
  const channel = await createChannel({ ...opened, environment: 'sandbox', actor: 'test' }, { name: 'Drain' });
  const node = start(LEDGER_NODE, env);
  const port = await ledgerPort(node);
  const client = channelClient(`http://127.0.0.1:${port}`, channel);
  const token = await client.getToken();

  const { open: openGate, passed } = newGate();
  const gate = database.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock(71)');
    await passed;
  });
  for (const bytes of ['', 'POST /openapi/v1/test/add HTTP/1.1\r\n']) {
    const silent = net.connect(port, '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void silent.destroy());
    silent.write(bytes);
  }
  const ref = randomUUID();
  const running = client.call('test/add', { ref, gate: 71 });
  const socket = net.connect(port, '127.0.0.1');
  const answers = text(socket);
  socket.write(httpText({ ref, gate: 71 }));
  await until('both at the gate', async () => (await lockWaits(database, 'pg_advisory')) === 2);

  node.child.kill('SIGTERM');
  await until('no new connections', () =>
    send(`http://127.0.0.1:${port}`, 'GET', '/healthz', {}, Buffer.alloc(0)).then(
      () => false,
      () => true,
    ),
  );
  socket.write(httpText({ ref: 'too late' }));
  openGate();
  await gate;
  expect((await running).code).toBe('0');
  // `answers` resolves, because the last answer closes the connection.
  const codes = [...(await answers).matchAll(/"code":"(\d+)"/g)].map((match) => match[1]);
  expect(codes).toEqual(['0']);
  expect(await node.exited).toBe(0);
  expect(await database.query('select ref from test_ledger')).toEqual([{ ref }, { ref }]);
  await opened.close();

  function httpText(body: object): string {
    const bytes = Buffer.from(JSON.stringify(body));
    const headers = {
      Host: 'x',
      'Content-Length': bytes.length,
      ...client.signedHeaders('test/add', bytes, { token }),
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    return `POST /openapi/v1/test/add HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${bytes}`;
  }
});

describe('DRAIN_SECONDS', () => {
  const request = (port: number, place: string, agent: http.Agent) =>
    new Promise<{ status: number; connection: string | undefined }>((resolve, reject) => {
      http
        .get({ port, host: '127.0.0.1', path: place, agent }, (answer) => {
          answer.resume().on('end', () => {
            resolve({ status: answer.statusCode ?? 0, connection: answer.headers.connection });
          });
        })
        .on('error', reject);
    });

  it('/readyz is 503 first, requests are still served and end their connections; a second signal exits at once', async () => {
    const running = start(SHIPPED_MAIN, { DATA_DIR: dataDir, PORT: '0', DRAIN_SECONDS: '300' });
    const { port } = new URL(await serviceUrl(running));
    const agent = new http.Agent({ keepAlive: true });
    expect(await request(Number(port), '/readyz', agent)).toEqual({ status: 200, connection: 'keep-alive' });
    running.child.kill('SIGTERM');
    await until('it is not ready', async () => (await request(Number(port), '/readyz', agent)).status === 503);
    // Sends the request over a new connection. The answer closes that connection.
    expect(await request(Number(port), '/healthz', agent)).toEqual({ status: 200, connection: 'close' });
    expect((await send(`http://127.0.0.1:${port}`, 'POST', '/openapi/v1/auth/token', {}, Buffer.alloc(0))).code).toBe(
      '401001',
    );
    expect(running.stderr()).toMatch(/\/readyz answers 503; requests are served for another 300 s/);
    // Repeats the signal, because a second signal that comes immediately counts as the same signal.
    await until('a second signal has ended it', () => {
      running.child.kill('SIGTERM');
      return running.child.exitCode !== null;
    });
    expect(running.child.exitCode).toBe(1);
    agent.destroy();
  });

  it('drains as usual afterwards', async () => {
    const running = start(SHIPPED_MAIN, { DATA_DIR: dataDir, PORT: '0', DRAIN_SECONDS: '1' });
    await serviceUrl(running);
    running.child.kill('SIGTERM');
    expect(await running.exited).toBe(0);
    expect(running.stderr()).toMatch(/another 1 s[\s\S]+finishing requests in flight/);
  });
});
