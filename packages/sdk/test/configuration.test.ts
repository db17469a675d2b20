import { inspect } from 'node:util';
import { endpoints } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { PerennialClient, type PerennialClientOptions } from '../src/index.js';
import { caught, SECRETS } from './support.js';

const right = { baseUrl: 'https://pay.example', appId: 'test_demo', ...SECRETS };

const made = (more: object): unknown => {
  try {
    return new PerennialClient({ ...right, ...more } as PerennialClientOptions);
  } catch (error) {
    return error;
  }
};

describe('a wrong setting', () => {
  const url = SECRETS.aesKey.replaceAll('+', '-').replaceAll('/', '_').replace('gIGC', '-_GC');
  const bytes = (count: number) => Buffer.alloc(count, 7).toString('base64');
  it.each([
    [{ appSecret: undefined }, 'appSecret must be a string: 32 bytes in base64'],
    [{ appSecret: bytes(31) }, 'appSecret must be 32 bytes in base64, as it was handed over: these are 31 bytes'],
    [{ aesKey: `${SECRETS.aesKey}\n` }, 'there is a space or a line break at one of its ends'],
    [{ aesKey: url }, 'this is base64url'],
    [{ aesKey: 'correct horse' }, 'this is no base64, 13 characters long'],
    [{ baseUrl: 'pay.example' }, 'baseUrl must be a URL such as https://pay.example'],
    [{ baseUrl: undefined }, 'baseUrl must be a URL such as https://pay.example'],
    [{ baseUrl: 'ftp://pay.example' }, 'baseUrl must begin with https:// or http://'],
    [{ baseUrl: 'https://pay.example/openapi/v1' }, 'without a path: https://pay.example'],
    [{ baseUrl: 'https://pay.example?x=1' }, 'without a path: https://pay.example'],
    [{ baseUrl: 'https://me:hidden@pay.example' }, 'baseUrl must not hold a user or a password'],
    [{ appId: '' }, 'appId must be 1 to 128 visible ASCII characters'],
    [{ retries: 4 }, 'retries must be 0 to 3'],
    [{ encryption: 'v3' }, "encryption must be 'v1' or 'v2'"],
  ])('%j is said when the client is made, without the secret', (more, said) => {
    const error = made(more);
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain(said);
    for (const value of Object.values(more)) {
      if (typeof value === 'string' && value.length > 20 && !value.startsWith('http')) {
        expect(String(error)).not.toContain(value.trim());
      }
    }
    expect(String(error)).not.toMatch(/hidden|correct horse/);
  });

  it('of one call is reported before it is sent', async () => {
    const client = new PerennialClient({ ...right, fetch: () => Promise.reject(new Error('it was sent')) });
    const reference = { orderNo: '1' };
    for (const options of [{ idempotencyKey: 'a b' }, { requestId: '' }]) {
      expect(await caught(client.orders.unsubscribe(reference, options))).toBeInstanceOf(TypeError);
    }
  });
});

describe('a client', () => {
  const client = new PerennialClient({ ...right, baseUrl: 'https://pay.example/' });

  it('has a method for each endpoint, and an iterator for each list', () => {
    const paths = (value: object, above = ''): string[] =>
      Object.entries(value).flatMap(([name, inner]) =>
        typeof inner === 'function' ? [above + name] : paths(inner, `${above}${name}.`),
      );
    const camel = (text: string) => text.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
    const expected = endpoints.flatMap(({ name, response }) => {
      const method = name.split('/').map(camel).join('.');
      return 'nextCursor' in ((response as { properties?: object }).properties ?? {})
        ? [method, `${method}All`]
        : [method];
    });
    expect(paths(client).toSorted()).toEqual(expected.toSorted());
    expect(expected).toEqual(
      expect.arrayContaining(['agreements.bindSms', 'agreements.userDataAll', 'orders.listAll']),
    );
    expect(expected).toEqual(expect.arrayContaining(['paymentChannels.list', 'sandbox.orders.advance', 'auth.token']));
  });

  it('shows no secret when it is printed or written as JSON', () => {
    const shown = inspect(client, { depth: 9, showHidden: true }) + JSON.stringify(client);
    expect(shown).toMatch(/^PerennialClient/);
    for (const secret of Object.values(SECRETS)) expect(shown).not.toContain(secret);
  });
});
