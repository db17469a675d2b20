import { randomBytes, randomUUID } from 'node:crypto';
import http from 'node:http';
import net from 'node:net';
import { performance } from 'node:perf_hooks';
import { CONTENT_TYPE, ENDPOINTS, encryptField, HEADERS, PATH_PREFIX, sha256Hex, signRequest } from '@perennial/wire';

/** What a caller waits for an answer at most. Of a service that is well nobody ever waits so long. */
export const PATIENCE_MS = 30_000;

/**
 * A channel's own program. A call never throws: its outcome is the code of the envelope or, without one, what the network
 * said, so that every request of an attack can be counted.
 */
export function caller(baseUrl, channel) {
  const agent = new http.Agent({ keepAlive: true });
  let token;

  /** Everything of a request; `raw` is sent in place of the body's JSON, `headers` in place of the right ones. */
  function signed(endpoint, body, { raw, headers, idempotencyKey } = {}) {
    const path = PATH_PREFIX + endpoint;
    const bytes = raw ?? Buffer.from(JSON.stringify(body));
    const timestamp = String(Date.now());
    const nonce = randomBytes(16).toString('hex');
    const requestId = randomUUID();
    const parts = { path, query: '', bodySha256: sha256Hex(bytes), timestamp, nonce, requestId };
    return {
      method: 'POST',
      path,
      body: bytes,
      headers: {
        [HEADERS.contentType]: CONTENT_TYPE,
        [HEADERS.appId]: channel.appId,
        [HEADERS.timestamp]: timestamp,
        [HEADERS.nonce]: nonce,
        [HEADERS.requestId]: requestId,
        [HEADERS.signature]: signRequest(parts, Buffer.from(channel.appSecret, 'base64')),
        ...(ENDPOINTS[endpoint].token ? { [HEADERS.authorization]: `Bearer ${token}` } : {}),
        ...(idempotencyKey === undefined ? {} : { [HEADERS.idempotencyKey]: idempotencyKey }),
        ...headers,
      },
    };
  }

  const send = (request, options) => exchange(baseUrl, request, { agent, ...options });

  return {
    channel,
    signed,
    send,
    call: (endpoint, body, options = {}) => send(signed(endpoint, body, options), options),

    /** Before the first call. */
    async logIn() {
      const { appId } = channel;
      const reply = await send(signed('auth/token', { grantType: 'client_credentials', appId }));
      if (reply.code !== '0') throw new Error(`auth/token answered ${reply.code}`);
      token = reply.data.accessToken;
      return this;
    },

    /** A connection on which the request was written. Until somebody reads, it takes in no more than the first bytes. */
    async open(request) {
      const { hostname, port } = new URL(baseUrl);
      const socket = net.connect({ host: hostname, port: Number(port), noDelay: true });
      // Whatever becomes of it is seen when it is read from.
      socket.on('error', () => undefined);
      await new Promise((resolve) => {
        socket.once('connect', resolve).once('close', resolve);
      });
      const { method, path, headers, body } = request;
      const lines = Object.entries({ Host: hostname, ...headers, 'Content-Length': body.length });
      const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      socket.write(Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${head}\r\n`), body]));
      return socket;
    },

    encrypt: (text) => encryptField(text, Buffer.from(channel.aesKey, 'base64')),
    close: () => agent.destroy(),
  };
}

/** One request and its answer. `signal` ends it as "cut short": the time of the attack is over. */
export function exchange(baseUrl, { method, path, headers, body }, { agent, signal, patienceMs = PATIENCE_MS } = {}) {
  const since = performance.now();
  return new Promise((resolve) => {
    const outcome = (code, more) => resolve({ code, ms: performance.now() - since, ...more });
    const request = http.request(new URL(path, baseUrl), { method, agent, timeout: patienceMs });
    const end = () => request.destroy(Object.assign(new Error(), { code: 'cut short' }));
    if (signal?.aborted) end();
    signal?.addEventListener('abort', end, { once: true });
    request.on('close', () => signal?.removeEventListener('abort', end));
    for (const [name, value] of Object.entries(headers)) request.setHeader(name, value);
    request.on('timeout', () => request.destroy(Object.assign(new Error(), { code: 'no answer' })));
    request.on('error', (error) => outcome(error.code ?? error.message));
    request.on('response', (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', (error) => outcome(error.code ?? error.message));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const answer = { status: response.statusCode, headers: response.headers, text };
        const envelope = envelopeOf(text);
        outcome(envelope?.code ?? `HTTP ${response.statusCode}`, { ...answer, data: envelope?.data });
      });
    });
    request.end(body);
  });
}

function envelopeOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** How many ended how: `{ '0': 12, '429001': 8 }`. */
export function tally(outcomes) {
  const counts = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

/** So many at a time, until there are no more or the time is over. Gives what each came to, in the order of their end. */
export async function inParallel(width, items, signal, work) {
  const results = [];
  const rest = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of rest) {
      if (signal.aborted) return;
      results.push(await work(item));
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return results;
}

export const range = (count) => Array.from({ length: count }, (_, index) => index);

let made = 0;
const serial = `${process.pid.toString(36)}${Date.now().toString(36)}`;

/** A name that nobody had before. */
export const unique = (prefix) => {
  made += 1;
  return `${prefix}-${serial}-${made}`;
};

/** A mobile for each user of this process. */
export const uniqueMobile = () => {
  made += 1;
  return `1${String((process.pid % 1000) * 10_000_000 + made).padStart(10, '0')}`;
};

/** An order in mode B, of a user of its own unless it is said whose. */
export function orderOf({ encrypt }, productCode, { channelUserId = unique('user'), mobile = uniqueMobile() } = {}) {
  return {
    settlementMode: 'CHANNEL_COLLECT',
    externalOrderNo: unique('order'),
    productCode,
    channelUserId,
    mobileEncrypted: encrypt(mobile),
  };
}
