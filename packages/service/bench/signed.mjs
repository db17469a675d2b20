import { randomBytes, randomUUID } from 'node:crypto';
import { CONTENT_TYPE, ENDPOINTS, HEADERS, sha256Hex, signRequest } from '@perennial/wire';

/** One request of a channel, complete: nonce, signature and, where the endpoint wants it, the token. */
export function signedRequest({ endpoint, body }, channel, n = 0) {
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

/** Sends one and gives back the answer's text; anything but success is an error. */
export async function send(baseUrl, { path, headers, body }) {
  const response = await fetch(baseUrl + path, { method: 'POST', headers, body });
  const text = await response.text();
  if (response.status !== 200 || JSON.parse(text).code !== '0') {
    throw new Error(`${path} answered ${response.status} ${text.slice(0, 300)}`);
  }
  return text;
}

export const call = (baseUrl, row, channel) => send(baseUrl, signedRequest(row, channel));
