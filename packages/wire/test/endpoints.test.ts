import { describe, expect, it } from 'vitest';
import { type CodeName, resultCodes } from '../src/codes.js';
import { ENDPOINTS, endpoints } from '../src/endpoints.js';
import { HEADER_FORMS, HEADER_KEYS, HEADERS } from '../src/headers.js';

const precedence = resultCodes.map((row): CodeName => row.name);
const ofEveryRequest = new Set(precedence.slice(0, precedence.indexOf('SUBSCRIPTION_NOT_FOUND')));
const faults = new Set<CodeName>(['INTERNAL_ERROR', 'UNAVAILABLE', 'SUCCESS']);

describe('the table of endpoints', () => {
  it('has the twelve of the interface, two for events and six of the sandbox, each under its own name and path', () => {
    expect(Object.entries(ENDPOINTS).map(([key, { name, path }]) => [key === name, path])).toEqual(
      [
        'auth/token',
        'products/list',
        'payment-channels/list',
        'agreements/bind-sms',
        'agreements/bind-confirm',
        'agreements/user-data',
        'agreements/replace',
        'orders/create',
        'orders/query',
        'orders/list',
        'orders/unsubscribe',
        'payments/query',
        'events/list',
        'events/replay',
        'sandbox/orders/advance',
        'sandbox/payments/refund',
        'sandbox/events/pull',
        'sandbox/events/test',
        'sandbox/requests/list',
        'sandbox/channel/set',
      ].map((name) => [true, `/openapi/v1/${name}`]),
    );
  });

  it('requires a token for every endpoint but one', () => {
    expect(endpoints.filter(({ token }) => !token).map(({ name }) => name)).toEqual(['auth/token']);
  });

  it('marks the writes', () => {
    expect(endpoints.filter(({ write }) => write).map(({ name }) => name)).toEqual([
      'agreements/bind-sms',
      'agreements/bind-confirm',
      'agreements/replace',
      'orders/create',
      'orders/unsubscribe',
      'events/replay',
      'sandbox/orders/advance',
      'sandbox/payments/refund',
    ]);
  });

  it('marks the endpoints of the sandbox, also by name', () => {
    const sandboxOnly = endpoints.filter((endpoint) => endpoint.sandboxOnly).map(({ name }) => name);
    expect(sandboxOnly).toEqual([
      'sandbox/orders/advance',
      'sandbox/payments/refund',
      'sandbox/events/pull',
      'sandbox/events/test',
      'sandbox/requests/list',
      'sandbox/channel/set',
    ]);
    expect(endpoints.filter(({ name }) => name.startsWith('sandbox/')).map(({ name }) => name)).toEqual(sandboxOnly);
  });

  it.each(endpoints)('$name lists business codes only, in order of precedence', ({ codes }) => {
    expect(codes).toEqual(precedence.filter((name) => codes.some((code) => code === name)));
    expect(codes.filter((name) => ofEveryRequest.has(name) || faults.has(name))).toEqual([]);
  });

  it('uses every business code somewhere', () => {
    const used = new Set<CodeName>(endpoints.flatMap(({ codes }) => codes));
    const business = precedence.filter((name) => !ofEveryRequest.has(name) && !faults.has(name));
    expect(business.filter((name) => !used.has(name))).toEqual([]);
  });
});

describe('headers', () => {
  it('are known in lower case as well', () => {
    expect(HEADER_KEYS.requestId).toBe('x-svc-request-id');
    expect(Object.keys(HEADER_KEYS)).toEqual(Object.keys(HEADERS));
  });

  it.each([
    ['timestamp', ['1767225600000', '0', '-5', '9'.repeat(19)], ['', '1.5', ' 1', '1e3', '0x1', '9'.repeat(20), '1\n']],
    ['nonce', ['0'.repeat(32), 'aF'.repeat(16)], ['', '0'.repeat(31), '0'.repeat(33), 'g'.repeat(32)]],
    ['requestId', ['~', 'r'.repeat(1024), '"\\'], ['', 'r'.repeat(1025), 'a b', 'é', 'a\n']],
    ['idempotencyKey', ['k'], ['', 'k'.repeat(129)]],
    ['eventId', ['e', 'e'.repeat(128)], ['', 'e'.repeat(129)]],
  ] as const)('%s has a form', (header, good, bad) => {
    for (const value of good) expect(HEADER_FORMS[header].test(value), value).toBe(true);
    for (const value of bad) expect(HEADER_FORMS[header].test(value), value).toBe(false);
  });
});
