import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ENDPOINTS, PATH_PREFIX } from '@perennial/wire';
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
      const sent = await runCollection(collection, { appSecret, aesKey });
      expect(sent.map(({ name, answer }) => [name, answer.code])).toEqual(sent.map(({ name }) => [name, '0']));
      expect(sent.flatMap(({ failed }) => failed)).toEqual([]);
      expect(new Set(sent.map((one) => one.path.slice(PATH_PREFIX.length)))).toEqual(new Set(Object.keys(ENDPOINTS)));
      // One token serves them all, and each has a key of its own.
      const others = sent.filter(({ path: one }) => one !== ENDPOINTS['auth/token'].path);
      expect(new Set(others.map(({ headers }) => headers['Authorization'])).size).toBe(1);
      expect(new Set(sent.map(({ headers }) => headers['Idempotency-Key'])).size).toBe(sent.length);
      for (const { body } of sent) expect(body).not.toMatch(/Encrypted":"(?!svc_aes_v1:)|\{\{/);
      const wrong = await runCollection(collection, { appSecret: aesKey, aesKey }).catch(String);
      expect(wrong).toMatch(/auth\/token was refused: 401002 /);
    } finally {
      await service.close();
    }
  });
});
