import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ofFile, serviceOfFile } from '../orders/stage-of-file.js';
import { collectRequest, demoChannel } from '../support/demo.js';
import { until } from '../support/processes.js';
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
