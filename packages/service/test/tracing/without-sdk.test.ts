import { describe, expect, it } from 'vitest';
import { findTracing } from '../../src/platform/tracing.js';
import { ofFile, serviceOfFile } from '../orders/stage-of-file.js';
import { capturedLog } from '../support/captured-log.js';
import { demoChannel } from '../support/demo.js';
import { silentBridge } from './bridge.js';

const CALLER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('without an SDK', () => {
  const captured = capturedLog();
  const { service, channel } = serviceOfFile({ log: captured.log }, demoChannel);
  const bridge = ofFile(() => silentBridge(service, channel));

  it('nothing is traced', () => {
    expect(findTracing()).toBeUndefined();
  });

  it('a traceparent is passed on to the institution unchanged', async () => {
    await bridge.debit({ traceparent: CALLER });
    expect(bridge.calls.at(-1)).toMatchObject({ operation: 'debit', headers: { traceparent: CALLER } });
  });

  it.each(['-more', ''])('a later version is read like the first: 01…%s', async (more) => {
    await bridge.debit({ traceparent: CALLER.replace(/^00/, '01') + more });
    expect(bridge.calls.at(-1)).toMatchObject({ operation: 'debit', headers: { traceparent: CALLER } });
  });

  it.each([
    'no traceparent',
    '00-00000000000000000000000000000000-b7ad6b7169203331-01',
    '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01',
    `${CALLER}-more`,
    CALLER.replace(/^00/, 'ff'),
    '',
  ])('an invalid traceparent is not passed on: %j', async (traceparent) => {
    await bridge.debit({ traceparent });
    expect(bridge.calls.at(-1)?.headers['traceparent']).toBeUndefined();
  });

  it('the log line about a call without an answer names its request', async () => {
    const reply = await bridge.debit({});
    const line = captured.lines().find(({ msg }) => msg === 'no answer of the bridge that could be trusted');
    expect(line).toMatchObject({
      level: 'warn',
      operation: 'debit',
      why: 'HTTP status 500',
      callId: expect.any(String),
    });
    expect(line.requestId).toMatch(/^traced-/);
    expect(reply.code).toBe('0');
  });
});
