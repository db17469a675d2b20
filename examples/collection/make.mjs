// Creates the collections for Postman and Bruno from the endpoints of the interface. The build adds them to the
// developers' pages for download.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ENDPOINTS } from '../../packages/wire/dist/index.js';
import { REQUESTS } from './requests.mjs';

const HERE = import.meta.dirname;
const NAME = 'Perennial';

/** The variables of the collection: a channel's credentials, and values that the requests use. */
const CREDENTIALS = { baseUrl: 'http://127.0.0.1:8080', appId: 'test_demo', appSecret: '', aesKey: '' };
const OTHERS = { productCode: 'TEST_SPU_001' };

/** Returns every file of both collections with its text, by path. Throws if an endpoint has no request. */
export function makeCollections() {
  const missing = Object.keys(ENDPOINTS).filter((name) => !REQUESTS.some(({ endpoint }) => endpoint === name));
  if (missing.length > 0) throw new Error(`requests.mjs has no request to ${missing.join(', ')}`);
  const requests = REQUESTS.filter(({ endpoint }) => endpoint in ENDPOINTS).map(({ endpoint, name, body }) => ({
    endpoint,
    title: name === undefined ? endpoint : `${endpoint}: ${name}`,
    summary: ENDPOINTS[endpoint].summary,
    body: JSON.stringify(body, undefined, 2),
  }));
  return { 'perennial.postman_collection.json': toPostman(requests), ...toBruno(requests) };
}

/** Returns the scripts without linter comments, which are only for this repository. */
function script(...names) {
  const texts = names.map((name) => readFileSync(path.join(HERE, 'scripts', `${name}.js`), 'utf8'));
  return texts.join('\n').replace(/^\/\/ biome-ignore.*\n/gm, '');
}

function toPostman(requests) {
  // Wraps the scripts in a function, because Postman already defines global variables with some of their names.
  const listener = (listen, ...names) => ({
    listen,
    script: { type: 'text/javascript', exec: ['(() => {', ...indented(script(...names)).split('\n'), '})();'] },
  });
  const collection = {
    info: {
      name: NAME,
      description:
        'Set appSecret and aesKey, then send any request: it is signed, its token is got, its fields are encrypted.',
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    item: requests.map(({ endpoint, title, summary, body }) => ({
      name: title,
      request: {
        method: 'POST',
        description: summary,
        header: [],
        body: { mode: 'raw', raw: body, options: { raw: { language: 'json' } } },
        url: `{{baseUrl}}/openapi/v1/${endpoint}`,
      },
    })),
    event: [listener('prerequest', 'signing', 'postman-before'), listener('test', 'signing', 'postman-after')],
    variable: Object.entries({ ...CREDENTIALS, ...OTHERS }).map(([key, value]) => ({ key, value })),
  };
  return `${JSON.stringify(collection, undefined, 2)}\n`;
}

function toBruno(requests) {
  const files = {
    'bruno/bruno.json': `${JSON.stringify({ version: '1', name: NAME, type: 'collection' }, undefined, 2)}\n`,
    'bruno/collection.bru': [
      block('vars:pre-request', listed(OTHERS)),
      block('script:pre-request', script('signing', 'bruno-before')),
      block('script:post-response', script('signing', 'bruno-after')),
    ].join('\n'),
    'bruno/environments/sandbox.bru': block('vars', listed(CREDENTIALS)),
  };
  for (const [index, { endpoint, title, body }] of requests.entries()) {
    const url = `{{baseUrl}}/openapi/v1/${endpoint}`;
    files[`bruno/${title.replace(/\W+/g, '-')}.bru`] = [
      block('meta', listed({ name: title.replaceAll('/', ' '), type: 'http', seq: index + 1 })),
      block('post', listed({ url, body: 'json', auth: 'none' })),
      block('body:json', body),
    ].join('\n');
  }
  return files;
}

const listed = (values) =>
  Object.entries(values)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

const indented = (text) => text.trimEnd().replace(/^(?=.)/gm, '  ');

const block = (name, text) => `${name} {\n${indented(text)}\n}\n`;
