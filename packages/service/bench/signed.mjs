import { randomBytes, randomUUID } from 'node:crypto';
import { CONTENT_TYPE, ENDPOINTS, HEADERS, sha256Hex, signRequest } from '@perennial/wire';

/** Returns one complete signed request of a channel: with nonce, signature and, if the endpoint needs it, the token. */
export function signedRequest({ endpoint, body }, channel, n) {
  const { path, token, write } = ENDPOINTS[endpoint];
  const text = JSON.stringify(body(channel, n));
  const timestamp = String(Date.now());
  const nonce = randomBytes(16).toString('hex');
  const requestId = randomUUID();
  const bodySha256 = sha256Hex(Buffer.from(text));
  const secret = Buffer.from(channel.appSecret, 'base64');
  return {
    path,
    body: text,
    headers: {
      [HEADERS.contentType]: CONTENT_TYPE,
      [HEADERS.appId]: channel.appId,
      [HEADERS.timestamp]: timestamp,
      [HEADERS.nonce]: nonce,
      [HEADERS.requestId]: requestId,
      [HEADERS.signature]: signRequest({ path, query: '', bodySha256, timestamp, nonce, requestId }, secret),
      ...(token ? { [HEADERS.authorization]: `Bearer ${channel.token}` } : {}),
      ...(write ? { [HEADERS.idempotencyKey]: requestId } : {}),
    },
  };
}

/** Returns a row's request: its own `request` if it has that function, otherwise a signed request. */
export const requestOf = (row, channel, n = 0) => row.request?.(channel) ?? signedRequest(row, channel, n);

/** Sends a request and returns the response's text. Throws unless it succeeds. */
export async function send(baseUrl, { path, headers, body }) {
  const response = await fetch(baseUrl + path, { method: 'POST', headers, body });
  const text = await response.text();
  if (response.status !== 200 || JSON.parse(text).code !== '0') {
    throw new Error(`${path} answered ${response.status} ${text.slice(0, 300)}`);
  }
  return text;
}

export const call = (baseUrl, row, channel) => send(baseUrl, signedRequest(row, channel));

/** Returns the response that bare.mjs must give. */
export async function answerOf(baseUrl, row, channel) {
  const { method = 'POST', path, headers, body } = requestOf(row, channel);
  const response = await fetch(baseUrl + path, {
    method,
    headers,
    redirect: 'manual',
    ...(body === '' ? {} : { body }),
  });
  const kept = ['content-type', 'location'].flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  if (response.status >= 400) throw new Error(`${path.replace(/\?.*/, '')} answered ${response.status}`);
  return { method, status: response.status, headers: Object.fromEntries(kept), text: await response.text() };
}
