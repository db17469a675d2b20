import { HEADERS } from '@perennial/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChannelClient } from '../support/channel-client.js';
import { expectEnvelope } from '../support/envelope.js';
import { type TestService, testService } from '../support/service.js';

let service: TestService;
let channel: ChannelClient;
beforeAll(async () => {
  // Of production, where nothing is told: the sandbox has tests of its own (test/kit/diagnosis.test.ts).
  service = await testService({ environment: 'production' });
  channel = await service.channel();
});
afterAll(() => service.close());

const list = (timestamp: number | string) => channel.call('products/list', {}, { timestamp });

describe('X-SVC-Timestamp', () => {
  it.each([0, 1, -1, 300_000, -300_000])('0: %i ms off the service clock', async (offset) => {
    expect((await list(service.clock.now() + offset)).code).toBe('0');
  });

  it.each([300_001, -300_001, 86_400_000, -86_400_000])('401003: %i ms off the service clock', async (offset) => {
    const reply = await list(service.clock.now() + offset);
    expect(reply.status).toBe(401);
    expectEnvelope(reply.envelope, '401003');
    expect(reply.data).toBeNull();
  });

  it.each([
    ['seconds in place of milliseconds', '1769832000'],
    ['zero', '0'],
    ['negative', '-1769832000000'],
    ['the largest of 64 bits', '9223372036854775807'],
    ['19 digits', '9999999999999999999'],
  ])('401003: a number that is far off (%s)', async (_what, timestamp) => {
    expectEnvelope((await list(timestamp)).envelope, '401003');
  });

  it.each([
    ['20 digits', '17698320000000000000'],
    ['letters', 'now'],
    ['a fraction', '1769832000000.5'],
    ['an exponent', '1.769832e12'],
    ['hex', '0x19c12345678'],
    ['a plus sign', '+1769832000000'],
    ['a separator', '1,769,832,000,000'],
    ['two numbers', '1769832000000 1769832000000'],
    ['the time format of bodies', '2026-01-31 12:00:00'],
    ['NaN', 'NaN'],
  ])('401001: garbage (%s)', async (_what, timestamp) => {
    const reply = await list(timestamp);
    expect(reply.status).toBe(401);
    expectEnvelope(reply.envelope, '401001');
    expect(reply.envelope.message).toContain(HEADERS.timestamp);
  });

  it('0: leading zeros are signed as they were sent', async () => {
    expect((await list(`00${service.clock.now()}`)).code).toBe('0');
  });

  it('401003: comes before the signature is looked at', async () => {
    const reply = await channel.call(
      'products/list',
      {},
      { timestamp: service.clock.now() - 300_001, headers: { [HEADERS.signature]: 'x' } },
    );
    expect(reply.code).toBe('401003');
  });
});
