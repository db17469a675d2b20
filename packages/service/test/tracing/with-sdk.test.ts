import { readFileSync } from 'node:fs';
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ofFile, serviceOfFile } from '../orders/stage-of-file.js';
import { collectRequest, demoChannel } from '../support/demo.js';
import { installation } from '../support/installation.js';
import { MAIN, packageRoot, serviceUrl, until } from '../support/processes.js';
import { createSendingNode, registerReceiver } from '../webhooks/sending.js';
import { silentBridge } from './bridge.js';
import { type RecordedSpan, recordSpans, stopRecording } from './recorder.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

describe('with an SDK', () => {
  let spans: RecordedSpan[];
  beforeAll(() => {
    spans = recordSpans();
  });
  afterAll(stopRecording);
  const { service, channel } = serviceOfFile({}, demoChannel);
  const bridge = ofFile(() => silentBridge(service, channel));
  const pushHeaders: string[] = [];
  ofFile(() =>
    registerReceiver(service, channel, {
      answer: ({ traceparent = '' }) => {
        pushHeaders.push(traceparent);
        return 'accept';
      },
    }),
  );

  it('a request is a span under its caller’s, with its statements and the call to the institution below', async () => {
    // Gets the client's token before the spans are checked.
    await channel.call('products/list', {});
    await until('its end', () => spans.filter(({ kind }) => kind === 'SERVER').every(({ hasEnded }) => hasEnded));
    spans.length = 0;
    await bridge.debit({ traceparent: `00-${TRACE}-${PARENT}-01` });
    const request = await until('the span', () => spans.find(({ kind, hasEnded }) => kind === 'SERVER' && hasEnded));
    expect(request).toMatchObject({
      name: 'POST /openapi/v1/orders/create',
      traceId: TRACE,
      parentId: PARENT,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/openapi/v1/orders/create',
        'http.response.status_code': 200,
        'perennial.code': '0',
        'perennial.request_id': expect.stringMatching(/^traced-/),
      },
      hasFailed: false,
    });
    const below = spans.filter(({ parentId }) => parentId === request.spanId);
    const call = below.find(({ name }) => name === 'bridge debit');
    expect(call).toMatchObject({ kind: 'CLIENT', traceId: TRACE, hasFailed: true, hasEnded: true });
    expect(bridge.calls.at(-1)?.headers['traceparent']).toBe(`00-${TRACE}-${call?.spanId}-01`);
    const statements = below.filter(({ attributes }) => attributes['db.system.name'] === 'postgresql');
    expect(statements.map(({ name }) => name)).toEqual(expect.arrayContaining(['admit', 'find-gateways']));
    expect(statements.every(({ hasEnded }) => hasEnded)).toBe(true);
    expect(spans.filter(({ traceId }) => traceId !== TRACE)).toEqual([]);
  });

  it('no span holds a value of a request or a statement', () => {
    const text = JSON.stringify(spans);
    for (const secret of ['6222020000001234567', '13800000001', '张三', channel.credentials.appSecret]) {
      expect(text).not.toContain(secret);
    }
  });

  it('a request without a traceparent starts a new trace', async () => {
    spans.length = 0;
    await channel.call('products/list', {}, { headers: { traceparent: 'nonsense' } });
    await until('the span', () => spans.find(({ kind, hasEnded }) => kind === 'SERVER' && hasEnded));
    expect(spans.find(({ kind }) => kind === 'SERVER')).toMatchObject({ parentId: undefined });
  });

  it('a push starts a new trace, and sends its traceparent to the receiver', async () => {
    await channel.call('orders/create', collectRequest(channel));
    spans.length = 0;
    const node = createSendingNode(service);
    await node.turn();
    await node.stop();
    const pushes = spans.filter(({ name }) => name === 'push');
    expect(pushes.length).toBeGreaterThan(0);
    // The statements of a job are not traced, because they belong to no span.
    expect(spans).toEqual(pushes);
    expect(pushes.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`).toSorted()).toEqual(
      pushHeaders.toSorted(),
    );
    for (const push of pushes) {
      expect(push).toMatchObject({ kind: 'CLIENT', parentId: undefined, hasEnded: true });
      expect(push.attributes).toMatchObject({ 'perennial.outcome': 'ACCEPTED', 'http.response.status_code': 200 });
    }
  });
});

describe('the packed service, with an SDK that brings its own copy of the API', () => {
  const fresh = ofFile(installation);

  /** Copies the API into a new folder, under the given version, with a module that registers an SDK. */
  async function installSdk(version: string): Promise<URL> {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-sdk-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const installed = path.join(packageRoot, '..', '..', 'node_modules', '@opentelemetry', 'api');
    const api = path.join(folder, 'node_modules', '@opentelemetry', 'api');
    await cp(installed, api, { recursive: true });
    const own: string = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8')).version;
    for (const name of await readdir(api, { recursive: true })) {
      if (!/\.[cm]?js$/.test(name)) continue;
      const file = path.join(api, name);
      await writeFile(file, readFileSync(file, 'utf8').replaceAll(own, version));
    }
    const sdk = path.join(folder, 'sdk.mjs');
    await writeFile(
      sdk,
      `import { trace } from '@opentelemetry/api';
       const span = trace.wrapSpanContext({ traceId: '${TRACE}', spanId: '${PARENT}', traceFlags: 1 });
       const startSpan = (name) => (process.stderr.write('span ' + name + '\\n'), span);
       trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) });`,
    );
    return pathToFileURL(sdk);
  }

  it('traces with version 1.9 of the API, with which SDKs were published for years', async () => {
    const node = fresh.node({ NODE_OPTIONS: `--import=${await installSdk('1.9.0')}` }, MAIN);
    await fetch(`${await serviceUrl(node)}/openapi/v1/auth/token`, { method: 'POST' });
    await until('the span', () => /^span POST \/openapi\/v1\/auth\/token$/m.test(node.stderr()) || undefined);
  });
});
