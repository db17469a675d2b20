import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChannelClient } from '../support/channel-client.js';
import { type TestService, testService } from '../support/service.js';

let service: TestService;
let channel: ChannelClient;
beforeAll(async () => {
  service = await testService();
  channel = await service.channel();
});
afterAll(() => service.close());

describe('auth/token', () => {
  const ask = (body: object) => channel.callBare('auth/token', body);
  const request = () => ({ grantType: 'client_credentials', appId: channel.credentials.appId });

  it('0: issues a bearer token for two hours', async () => {
    const reply = await ask(request());
    expect(reply.status).toBe(200);
    expect(reply.envelope).toMatchObject({ code: '0', success: true, timestamp: '2026-01-31 12:00:00' });
    expect(reply.data).toEqual({
      accessToken: expect.stringMatching(/^[\w-]{40,}$/),
      expiresIn: '7200',
      expiresAt: '2026-01-31 14:00:00',
    });
  });

  it('0: every token is another one, and all are good', async () => {
    const tokens = await Promise.all([channel.getToken(), channel.getToken(), channel.getToken()]);
    expect(new Set(tokens).size).toBe(3);
    for (const token of tokens) {
      expect((await channel.callBare('products/list', {}, { token })).code).toBe('0');
    }
  });

  it.each([
    ['grantType is missing', { grantType: undefined }, 'grantType'],
    ['grantType is another', { grantType: 'password' }, 'grantType'],
    ['grantType is a number', { grantType: 1 }, 'grantType'],
    ['appId is missing', { appId: undefined }, 'appId'],
    ['appId is a number', { appId: 12 }, 'appId'],
    ["appId is another channel's", { appId: 'test_somebody_else' }, 'appId'],
  ])('400001: %s', async (_what, change, field) => {
    const reply = await ask({ ...request(), ...change });
    expect(reply.status).toBe(200);
    expect(reply.envelope).toMatchObject({ code: '400001', success: false, data: null });
    expect(reply.envelope.message).toContain(field);
  });
});
