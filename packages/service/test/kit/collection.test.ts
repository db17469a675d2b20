import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import vm from 'node:vm';
import { ENDPOINTS } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { ofFile } from '../orders/stage-of-file.js';
import { testService } from '../support/service.js';

interface PostmanRequest {
  readonly method: string;
  readonly url: string;
  readonly body: { readonly mode: string; readonly raw: string };
}

interface PostmanCollection {
  readonly info: { readonly schema: string };
  readonly item: readonly { readonly name: string; readonly request: PostmanRequest }[];
  readonly event: readonly { readonly listen: string; readonly script: { readonly exec: readonly string[] } }[];
  readonly variable: readonly { readonly key: string; readonly value: string }[];
}

/**
 * Tests the collections as users download them. `npm run prove -- languages` lets Newman and Bruno send every request.
 */
describe('collections', () => {
  const urls = Object.keys(ENDPOINTS).map((name) => `{{baseUrl}}/openapi/v1/${name}`);
  const service = ofFile(() => testService({ publicUrl: () => 'https://pay.example' }));
  const download = (name: string) => fetch(`${service.baseUrl}/developers/clients/${name}`);

  it('Postman’s is version 2.1, has a request for every endpoint, and has the service’s address', async () => {
    const answer = await download('perennial.postman_collection.json');
    const collection = (await answer.json()) as PostmanCollection;
    expect(collection.info.schema).toContain('/v2.1.0/');
    expect(new Set(collection.item.map(({ request }) => request.url))).toEqual(new Set(urls));
    for (const { request } of collection.item) {
      expect(request).toMatchObject({ method: 'POST', body: { mode: 'raw' } });
      expect(JSON.parse(request.body.raw)).toBeTypeOf('object');
    }
    expect(collection.event.map(({ listen }) => listen)).toEqual(['prerequest', 'test']);
    for (const { script } of collection.event) new vm.Script(script.exec.join('\n'));
    const variables = Object.fromEntries(collection.variable.map(({ key, value }) => [key, value]));
    expect(variables).toMatchObject({ baseUrl: 'https://pay.example', appId: 'test_demo', appSecret: '' });
  });

  it('Bruno’s has a request for every endpoint', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-bruno-'));
    try {
      const packed = path.join(folder, 'bruno.tgz');
      await writeFile(packed, Buffer.from(await (await download('perennial-bruno.tgz')).arrayBuffer()));
      await promisify(execFile)('tar', ['-xzf', packed, '-C', folder]);
      const files = await readdir(path.join(folder, 'bruno'));
      expect(files).toEqual(expect.arrayContaining(['bruno.json', 'collection.bru', 'environments']));
      const requests = files.filter((name) => name.endsWith('.bru') && name !== 'collection.bru');
      const texts = await Promise.all(requests.map((name) => readFile(path.join(folder, 'bruno', name), 'utf8')));
      expect(new Set(texts.map((text) => /^ {2}url: (.*)$/m.exec(text)?.[1]))).toEqual(new Set(urls));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
