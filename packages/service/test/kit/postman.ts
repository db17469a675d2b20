import { createCipheriv, createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import vm from 'node:vm';

/** A collection as Postman stores it, as far as it is looked at here. */
export interface Collection {
  readonly item: readonly { name: string; request: { url: string; body: { raw: string } } }[];
  readonly event: readonly { listen: string; script: { exec: string[] } }[];
  readonly variable: readonly { key: string; value: string }[];
}

export interface Sent {
  readonly name: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly answer: { readonly code: string };
  /** What the collection's own tests said. */
  readonly failed: readonly string[];
}

interface Answer {
  json(): { code: string };
}

interface AskedByScript {
  readonly url: string;
  readonly header: Record<string, string>;
  readonly body: { readonly raw: string };
}

/**
 * Sends every request of a collection as Postman does: its script, then the request as the script has left it, then its
 * tests. Variables stay as the scripts leave them, for another run. Of Postman's objects there is what the scripts use. `npm run prove -- languages` has Newman and Bruno themselves.
 */
export async function runCollection(collection: Collection, variables: Map<string, string>): Promise<Sent[]> {
  for (const { key, value } of collection.variable) if (!variables.has(key)) variables.set(key, value);
  const replaceIn = (text: string) =>
    text.replace(/\{\{([^}]+)\}\}/g, (whole, name) =>
      name === '$randomUUID' ? randomUUID() : (variables.get(name) ?? whole),
    );
  const store = {
    get: (name: string) => variables.get(name),
    set: (name: string, value: string) => variables.set(name, value),
    unset: (name: string) => variables.delete(name),
    replaceIn,
  };
  const scripts = new Map(collection.event.map(({ listen, script }) => [listen, script.exec.join('\n')]));

  const all: Sent[] = [];
  for (const { name, request } of collection.item) {
    const [path = '', query = ''] = request.url.replace('{{baseUrl}}', '').split(/\?(.*)/s);
    const headers: Record<string, string> = {};
    const body = { ...request.body, update: ({ raw }: { raw: string }) => Object.assign(body, { raw }) };
    const asked: Promise<unknown>[] = [];
    const failed: string[] = [];
    let answer: { code: string } = { code: '' };
    const pm = {
      variables: store,
      collectionVariables: store,
      info: { requestName: name },
      request: {
        url: { getPath: () => path, getQueryString: () => query },
        body,
        headers: {
          has: (key: string) => key in headers,
          upsert: ({ key, value }: { key: string; value: string }) => Object.assign(headers, { [key]: value }),
        },
      },
      response: { json: () => answer },
      sendRequest({ url, header, body: { raw } }: AskedByScript, done: (error: null, response: Answer) => void) {
        asked.push(post(url, header, raw).then((came) => done(null, { json: () => came })));
      },
      test(title: string, check: () => void) {
        try {
          check();
        } catch {
          failed.push(title);
        }
      },
      expect: (value: unknown) => ({
        to: {
          equal(wanted: unknown) {
            if (value !== wanted) throw new Error(`${value} is not ${wanted}`);
          },
        },
      }),
    };
    const run = (listen: string) => vm.runInNewContext(scripts.get(listen) ?? '', { pm, require: requireInPostman });
    run('prerequest');
    await Promise.all(asked);
    answer = await post(replaceIn(request.url), headers, body.raw);
    run('test');
    all.push({ name, path, headers, body: body.raw, answer, failed });
  }
  return all;
}

async function post(url: string, headers: Record<string, string>, body: string): Promise<{ code: string }> {
  const response = await fetch(url, { method: 'POST', headers, body });
  return (await response.json()) as { code: string };
}

function requireInPostman(name: string): unknown {
  if (name !== 'crypto-js') throw new Error(`Postman has no ${name}`);
  return CryptoJS;
}

/** Bytes, as CryptoJS hands them about. */
class WordArray {
  constructor(readonly bytes: Buffer) {}
  toString(encoding: BufferEncoding = 'hex'): string {
    return this.bytes.toString(encoding);
  }
  clone(): WordArray {
    return new WordArray(this.bytes);
  }
  concat(other: WordArray): WordArray {
    return new WordArray(Buffer.concat([this.bytes, other.bytes]));
  }
}

/** The part of CryptoJS that signing takes, on Node's own module. */
const CryptoJS = {
  lib: { WordArray: { random: (size: number) => new WordArray(randomBytes(size)) } },
  enc: { Base64: Object.assign('base64', { parse: (text: string) => new WordArray(Buffer.from(text, 'base64')) }) },
  SHA256: (text: string) => new WordArray(createHash('sha256').update(text).digest()),
  HmacSHA256: (text: string, key: WordArray) => new WordArray(createHmac('sha256', key.bytes).update(text).digest()),
  AES: {
    encrypt(text: string, key: WordArray, { iv }: { iv: WordArray }) {
      const cipher = createCipheriv('aes-256-cbc', key.bytes, iv.bytes);
      return { ciphertext: new WordArray(Buffer.concat([cipher.update(text), cipher.final()])) };
    },
  },
};
