import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { CODES, ENDPOINTS, PATH_PREFIX } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/platform/clock.js';
import { demoChannel } from '../support/demo.js';
import { testService } from '../support/service.js';
import { EXAMPLES } from './clients.js';
import { type Collection, runCollection } from './postman.js';

const FOLDER = path.join(EXAMPLES, 'collection');
const FILE = 'perennial.postman_collection.json';

describe('examples/collection', () => {
  it('is what make.mjs makes of the endpoints', async () => {
    const { makeCollection } = await import(pathToFileURL(path.join(FOLDER, 'make.mjs')).href);
    const made: Record<string, string> = makeCollection();
    const bruno = await readdir(path.join(FOLDER, 'bruno'), { recursive: true });
    expect(
      bruno
        .filter((name) => name.includes('.'))
        .map((name) => `bruno/${name}`)
        .toSorted(),
    ).toEqual(
      Object.keys(made)
        .filter((name) => name !== FILE)
        .toSorted(),
    );
    for (const [name, text] of Object.entries(made))
      expect(await readFile(path.join(FOLDER, name), 'utf8'), name).toBe(text);
  });

  it('has every endpoint carried out, from the first request to the last, with its script for Postman', async () => {
    let baseUrl = '';
    const service = await testService({ clock: systemClock, publicUrl: () => baseUrl });
    baseUrl = service.baseUrl;
    try {
      const { credentials } = await demoChannel(service);
      const { appSecret, aesKey } = credentials;
      // As it is downloaded: it knows where the service is.
      const collection = (await (await fetch(`${baseUrl}/developers/clients/${FILE}`)).json()) as Collection;
      const variables = new Map(Object.entries({ appSecret, aesKey }));
      const sent = await runCollection(collection, variables);
      expect(sent.map(({ name, answer }) => [name, answer.code])).toEqual(sent.map(({ name }) => [name, '0']));
      expect(sent.flatMap(({ failed }) => failed)).toEqual([]);
      expect(new Set(sent.map((one) => one.path.slice(PATH_PREFIX.length)))).toEqual(new Set(Object.keys(ENDPOINTS)));
      // One token serves them all, and each has a key of its own.
      const withToken = sent.filter(({ path: one }) => one !== ENDPOINTS['auth/token'].path);
      expect(new Set(withToken.map(({ headers }) => headers['Authorization'])).size).toBe(1);
      expect(new Set(sent.map(({ headers }) => headers['Idempotency-Key'])).size).toBe(sent.length);
      for (const { body } of sent) expect(body).not.toMatch(/Encrypted":"(?!svc_aes_v1:)|\{\{/);

      // With what people change in it: a query, fields that are no text, and another channel.
      const item = (name: string, query: string, raw?: string) => ({
        ...collection,
        item: collection.item
          .filter((one) => one.name === name)
          .map(({ request: { url, body } }) => ({
            name,
            request: { url: url + query, body: { raw: raw ?? body.raw } },
          })),
      });
      const asked = await runCollection(item('products/list', `?of={{run}}&for=O'Brien "张三" <1>|%20?`), variables);
      expect(asked.map(({ answer }) => answer.code)).toEqual(['0']);
      const unfit = item('agreements/user-data', '', '{"bankCardNoEncrypted":null,"certificateNoEncrypted":1}');
      const [refused] = await runCollection(unfit, variables);
      expect([refused?.body, refused?.answer.code]).toEqual([
        '{"bankCardNoEncrypted":null,"certificateNoEncrypted":1}',
        CODES.PARAM_INVALID.code,
      ]);
      const { credentials: others } = await service.channel();
      for (const name of ['appId', 'appSecret', 'aesKey'] as const) variables.set(name, others[name]);
      const [changed] = await runCollection(item('products/list', ''), variables);
      expect(changed?.answer.code).toBe('0');

      const mistaken = new Map(Object.entries({ appSecret: aesKey, aesKey }));
      const wrong = await runCollection(collection, mistaken).catch(String);
      expect(wrong).toMatch(/auth\/token was refused: 401002 /);
    } finally {
      await service.close();
    }
  });
});
