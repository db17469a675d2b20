import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A server that answers like the transit engine of Vault, for one key with versions. */
export async function fakeVault(token: string, keyName = 'perennial') {
  const versions = [randomBytes(32)];
  const asked: string[] = [];
  const state = { minDecryptionVersion: 1, isSealed: false };

  function encrypt(plaintext: string): string {
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', versions.at(-1) ?? '', iv);
    const bytes = [iv, cipher.update(Buffer.from(plaintext, 'base64')), cipher.final(), cipher.getAuthTag()];
    return `vault:v${versions.length}:${Buffer.concat(bytes).toString('base64')}`;
  }

  function decrypt(ciphertext: string): string {
    const [, version = '0', text = ''] = /^vault:v(\d+):(.+)$/.exec(ciphertext) ?? [];
    if (Number(version) < state.minDecryptionVersion) throw new Error('ciphertext or signature version is disallowed');
    const bytes = Buffer.from(text, 'base64');
    const decipher = createDecipheriv('aes-256-gcm', versions[Number(version) - 1] ?? '', bytes.subarray(0, 12));
    decipher.setAuthTag(bytes.subarray(-16));
    return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString('base64');
  }

  const server = createServer(async (request, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    let text = '';
    for await (const part of request) text += part;
    if (state.isSealed) return answer(503, { errors: ['Vault is sealed'] });
    if (request.headers['x-vault-token'] !== token) return answer(403, { errors: ['permission denied'] });
    const path = request.url?.replace('/v1/transit/', '') ?? '';
    asked.push(path);
    try {
      const body = JSON.parse(text);
      const about = { request_id: '8375227a', lease_id: '', renewable: false, lease_duration: 0 };
      if (path === `encrypt/${keyName}`) {
        return answer(200, { ...about, data: { ciphertext: encrypt(body.plaintext), key_version: versions.length } });
      }
      if (path === `decrypt/${keyName}`)
        return answer(200, { ...about, data: { plaintext: decrypt(body.ciphertext) } });
      return answer(404, { errors: ['no handler for route'] });
    } catch (error) {
      return answer(400, { errors: [String(error)] });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return {
    setting: `vault:http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/transit#${keyName}`,
    /** Paths of the calls that were answered. */
    asked,
    /** Makes the server refuse every call if `isSealed` is true, and serve again if it is false. */
    seal(isSealed: boolean): void {
      state.isSealed = isSealed;
    },
    /** Adds a version of the key, which encrypts from then on. */
    rotate: () => versions.push(randomBytes(32)),
    /** Makes the server refuse to decrypt what earlier versions encrypted. */
    forgetEarlierVersions(): void {
      state.minDecryptionVersion = versions.length;
    },
  };
}
