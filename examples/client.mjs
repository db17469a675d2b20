// The channel's side of the interface, shared by the examples: signing, sending and encrypting. Uses only Node's own
// modules.
import { createCipheriv, createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

export const print = (text = '') => process.stdout.write(`${text}\n`);

/**
 * Reads the channel's credentials from the file that the command line names, else from the file that `npm start` writes
 * to DATA_DIR.
 */
export function readChannel() {
  const file = process.argv[2] ?? path.join(process.env['DATA_DIR'] ?? 'data', 'demo-channel.json');
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return stop(`${file} cannot be read: npm start writes it; set DATA_DIR, or name the file`);
  }
}

/** Returns the text to sign and the headers for a body. */
export function sign(channel, urlPath, body) {
  const timestamp = String(Date.now());
  const nonce = randomBytes(16).toString('hex');
  const requestId = randomUUID();

  // Seven lines are signed. The third is the query string, which is empty here. The digest covers the bytes sent.
  const digest = createHash('sha256').update(body).digest('hex');
  const signText = ['POST', urlPath, '', digest, timestamp, nonce, requestId].join('\n');
  const appSecret = Buffer.from(channel.appSecret, 'base64');
  const signature = createHmac('sha256', appSecret).update(signText).digest('base64');

  const headers = {
    'Content-Type': 'application/json;charset=UTF-8',
    'X-SVC-App-Id': channel.appId,
    'X-SVC-Timestamp': timestamp,
    'X-SVC-Nonce': nonce,
    'X-SVC-Request-Id': requestId,
    'X-SVC-Signature': signature,
  };
  return { signText, signature, headers };
}

/** Signs and sends one request. Every endpoint except auth/token needs `token`; writes should have `idempotencyKey`. */
export async function send(channel, endpoint, content, { token, idempotencyKey } = {}) {
  const urlPath = `/openapi/v1/${endpoint}`;
  const url = channel.baseUrl + urlPath;
  const body = Buffer.from(JSON.stringify(content));
  const { signText, signature, headers } = sign(channel, urlPath, body);
  if (token) headers.Authorization = `Bearer ${token}`;
  if (idempotencyKey) headers['Idempotency-Key'] = idempotencyKey;
  const response = await fetch(url, { method: 'POST', headers, body }).catch(() =>
    stop(`nothing answers at ${channel.baseUrl}: start the service with npm start`),
  );
  return {
    sent: { url, body, signText, signature },
    status: response.status,
    replayed: response.headers.get('Idempotency-Replayed') === 'true',
    answer: await response.json(),
  };
}

/** Returns the value for a field whose name ends in Encrypted: the IV, the AES-256-GCM ciphertext and its tag. */
export function encrypt(channel, text) {
  const key = createHmac('sha256', Buffer.from(channel.aesKey, 'base64')).update('svc_aes_v2').digest();
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  const bytes = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `svc_aes_v2:${bytes.toString('base64')}`;
}

export function stop(reason) {
  process.stderr.write(`${path.basename(process.argv[1], '.mjs')}: ${reason}\n`);
  process.exit(1);
}
