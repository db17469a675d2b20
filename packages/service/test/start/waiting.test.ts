import net from 'node:net';
import { describe, expect, it } from 'vitest';
import { migrate } from '../../src/platform/schema/migrate.js';
import { ofEachTest } from '../orders/stage-of-file.js';
import { freePort } from '../support/free-port.js';
import { installation } from '../support/installation.js';
import { type Running, serviceUrl, until } from '../support/processes.js';

const fresh = ofEachTest(() => installation({ migrated: false }));
const node = (more: Record<string, string>) => fresh.node({ MIGRATE: 'never', ...more });

/** Returns the first log line with a reason why the node waits. */
const waitsFor = (running: Running) =>
  until('a line of the log', () => {
    const line = running
      .stdout()
      .split('\n')
      .find((one) => one.includes('waiting; not serving yet'));
    return line === undefined ? undefined : (JSON.parse(line) as Record<string, string>);
  });

/** Waits until the log has at least `count` request lines. Returns these lines. */
const requestLines = (running: Running, count: number) =>
  until('lines of requests', () => {
    const lines = running
      .stdout()
      .split('\n')
      .filter((one) => one.includes('"msg":"request"'))
      .map((one) => JSON.parse(one) as Record<string, unknown>);
    return lines.length >= count && lines;
  });

const ask = async (port: number, place: string, init: RequestInit = {}) => {
  const answer = await fetch(`http://127.0.0.1:${port}/${place}`, init);
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body: await answer.json() };
};

describe('a node that waits', () => {
  it('for a migration is alive and not ready, refuses requests in the envelope, and then serves on the same port', async () => {
    const port = await freePort();
    const running = node({ PORT: String(port), METRICS_TOKEN: 'a-token-of-some-length' });
    expect(await waitsFor(running)).toMatchObject({
      level: 'warn',
      cause: expect.stringMatching(/^the schema lacks .*: run perennial migrate$/),
    });
    expect(await ask(port, 'healthz')).toMatchObject({ status: 200, body: { code: '0', data: { status: 'alive' } } });
    expect(await ask(port, 'readyz')).toMatchObject({ status: 503, retryAfter: '1', body: { code: '503001' } });
    const call = { method: 'POST', headers: { 'x-svc-request-id': 'r-1' }, body: 'not even JSON' };
    const refused = await ask(port, 'openapi/v1/auth/token', call);
    expect(refused).toMatchObject({ status: 503, retryAfter: '1' });
    expect(refused.body).toEqual({
      success: false,
      code: '503001',
      message: expect.any(String),
      data: null,
      requestId: 'r-1',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
    });
    await ask(port, 'redeem?sig=s3cret', { headers: { 'x-svc-request-id': 'r-2' } });
    const refusedLine = { level: 'info', status: 503, code: '503001', why: 'starting' };
    expect(await requestLines(running, 2)).toMatchObject([
      { ...refusedLine, requestId: 'r-1', endpoint: '/openapi/v1/auth/token' },
      { ...refusedLine, requestId: 'r-2', endpoint: 'unknown' },
    ]);
    expect(running.stdout()).not.toContain('s3cret');
    await migrate(fresh.url);
    expect(await serviceUrl(running)).toBe(`http://127.0.0.1:${port}`);
    expect(await ask(port, 'readyz')).toMatchObject({ status: 200 });
    expect(await ask(port, 'openapi/v1/auth/token', call)).toMatchObject({ status: 401 });
  });

  it('for an unreachable database answers on METRICS_PORT, and accepts no connection of the interface', async () => {
    const [away, port, metricsPort] = [await freePort(), await freePort(), await freePort()];
    const running = node({
      DATABASE_URL: `postgres://nobody:s3cret@127.0.0.1:${away}/none`,
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
    });
    expect(await waitsFor(running)).toMatchObject({
      cause: 'the database of DATABASE_URL cannot be reached (ECONNREFUSED)',
    });
    expect(await ask(metricsPort, 'healthz')).toMatchObject({ status: 200 });
    expect(await ask(metricsPort, 'readyz')).toMatchObject({ status: 503, body: { code: '503001' } });
    expect(await ask(metricsPort, 'metrics')).toMatchObject({ status: 503, body: { code: '503001' } });
    await expect(fetch(`http://127.0.0.1:${port}/readyz`)).rejects.toThrow();
    running.child.kill('SIGTERM');
    expect(await running.exited).toBe(0);
    expect(running.stdout()).not.toContain('s3cret');
  });

  it('serves although a client keeps a connection open', async () => {
    const port = await freePort();
    const running = node({ PORT: String(port) });
    await waitsFor(running);
    const silent = net.connect(port, '127.0.0.1').on('error', () => undefined);
    silent.write('POST /openapi/v1/auth/token HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n');
    await new Promise((resolve) => silent.once('data', resolve));
    await migrate(fresh.url);
    await serviceUrl(running);
    expect(await ask(port, 'readyz')).toMatchObject({ status: 200 });
    silent.destroy();
  });
});
