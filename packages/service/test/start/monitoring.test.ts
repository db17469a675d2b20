import { spawn } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ofFile } from '../orders/stage-of-file.js';
import { channelClient } from '../support/channel-client.js';
import { installation } from '../support/installation.js';
import { packageRoot, SHIPPED_MAIN, serviceUrl, until, watch } from '../support/processes.js';

const TOKEN = 'a-token-of-some-length';
const fresh = ofFile(installation);

/** Starts a node. Returns the URL of its interface, and the URL of operations from its banner. */
async function serve(more: Record<string, string>) {
  const running = fresh.node(more, SHIPPED_MAIN);
  const interfaceUrl = await serviceUrl(running);
  const operationsUrl = /Operations\s+(\S+)\/readyz {2}\/healthz {2}\/metrics/.exec(running.stderr())?.[1] ?? '';
  return { interfaceUrl, operationsUrl, running };
}

const statuses = async (url: string, headers: Record<string, string> = {}) =>
  Object.fromEntries(
    await Promise.all(
      ['readyz', 'healthz', 'metrics'].map(async (name) => [name, (await fetch(`${url}/${name}`, { headers })).status]),
    ),
  );

describe('/metrics, /healthz and /readyz', () => {
  it('are on the port of the interface by default', async () => {
    const { interfaceUrl, operationsUrl } = await serve({});
    expect(operationsUrl).toBe(interfaceUrl);
    expect(await statuses(interfaceUrl)).toEqual({ readyz: 200, healthz: 200, metrics: 200 });
  });

  it('METRICS_PORT: /metrics and /healthz are only there, /readyz is on both', async () => {
    const { interfaceUrl, operationsUrl } = await serve({ METRICS_PORT: '0' });
    expect(operationsUrl).not.toBe(interfaceUrl);
    expect(new URL(operationsUrl).hostname).toBe('127.0.0.1');
    expect(await statuses(interfaceUrl)).toEqual({ readyz: 200, healthz: 404, metrics: 404 });
    expect(await statuses(operationsUrl)).toEqual({ readyz: 200, healthz: 200, metrics: 200 });
    const metrics = await (await fetch(`${operationsUrl}/metrics`)).text();
    expect(metrics).toContain('perennial_http_requests_total{endpoint="unknown",status="404",code="404001"} 2');
    const elsewhere = await fetch(`${operationsUrl}/openapi/v1/auth/token`, { method: 'POST' });
    expect(elsewhere.status).toBe(404);
    expect(await elsewhere.json()).toMatchObject({ code: '404001', data: null });
  });

  it('METRICS_TOKEN: /metrics requires it, probes do not. PUBLIC_URL: the banner does not use it for them', async () => {
    const { running, operationsUrl } = await serve({ METRICS_TOKEN: TOKEN, PUBLIC_URL: 'https://pay.example' });
    expect(operationsUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(running.stderr()).not.toContain('https://pay.example/healthz');
    const named = [...running.stderr().matchAll(/https:\/\/pay\.example(\S+)/g)].map(([, place = '']) => place);
    expect(named).toEqual(['/openapi/v1/', '/developers']);
    const proxy = await readFile(path.join(packageRoot, '../../deploy/haproxy/haproxy.cfg'), 'utf8');
    const passedOn = /acl public path_beg (.+)/.exec(proxy)?.[1]?.split(' ') ?? [];
    for (const place of named)
      expect(
        passedOn.some((start) => place.startsWith(start)),
        place,
      ).toBe(true);
    // The console's address is on this machine, where operators can reach it before it has a public URL.
    expect(running.stderr()).toContain(`Console       ${operationsUrl}/console`);
    expect(await statuses(operationsUrl)).toEqual({ readyz: 200, healthz: 200, metrics: 401 });
    expect(await statuses(operationsUrl, { authorization: `Bearer ${TOKEN}x` })).toMatchObject({ metrics: 401 });
    expect(await statuses(operationsUrl, { authorization: `Bearer ${TOKEN}` })).toEqual({
      readyz: 200,
      healthz: 200,
      metrics: 200,
    });
    const refused = await fetch(`${operationsUrl}/metrics`);
    expect(await refused.json()).toMatchObject({ code: '401005', data: null });
  });
});

describe('a log that cannot be written', () => {
  it.skipIf(process.platform !== 'linux')('leaves the node in service, and its lost lines are counted', async () => {
    const full = await open('/dev/full', 'w');
    const child = spawn(process.execPath, [SHIPPED_MAIN], {
      env: { PATH: process.env['PATH'], ...fresh.env, LOG_LEVEL: 'debug' },
      stdio: ['ignore', full.fd, 'pipe'],
    });
    const running = watch(child);
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await running.exited;
      await full.close();
    });
    const url = await serviceUrl(running);
    const client = channelClient(url, await fresh.demo());
    await until('a dropped line', async () => {
      await Promise.all(Array.from({ length: 40 }, () => client.call('products/list', {})));
      const metrics = await (await fetch(`${url}/metrics`)).text();
      return Number(/^perennial_log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1]);
    });
    expect(await statuses(url)).toEqual({ readyz: 200, healthz: 200, metrics: 200 });
    child.kill('SIGTERM');
    expect(await running.exited).toBe(0);
  });
});
