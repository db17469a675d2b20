import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import https from 'node:https';
import path from 'node:path';
import { promisify } from 'node:util';
import { HEADERS, sha256Hex, signWebhook } from '@perennial/wire';

const run = promisify(execFile);

/** A public but unassigned IPv6 address: without receiver-route.mjs a push to it fails. */
const ADDRESS = '3000::1';
const PATH = '/events';
const ACCEPTED = '{"code":"0"}';

/** Starts a receiver that keeps every push in `events`, by eventId. */
export async function startReceiver(folder) {
  const events = new Map();
  let secret;
  let forged = 0;
  const { key, cert, certFile } = await certificateIn(folder);
  const server = https.createServer({ key, cert }, async (request, response) => {
    const chunks = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return;
    }
    const body = Buffer.concat(chunks);
    if (!isSigned(request.headers, body, secret)) {
      forged += 1;
      response.writeHead(401).end();
      return;
    }
    const text = body.toString('utf8');
    const { eventId } = JSON.parse(text);
    if (events.has(eventId)) events.get(eventId).push(text);
    else events.set(eventId, [text]);
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(ACCEPTED);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://[${ADDRESS}]${PATH}`,
    /** The environment variables that a node needs to reach this receiver. */
    env: {
      PROVE_RECEIVER_ADDRESS: ADDRESS,
      PROVE_RECEIVER_PORT: String(server.address().port),
      NODE_EXTRA_CA_CERTS: certFile,
    },
    events,
    forged: () => forged,
    pushes: () => [...events.values()].reduce((sum, pushes) => sum + pushes.length, 0),
    use(callbackSecret) {
      secret = Buffer.from(callbackSecret, 'base64');
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Creates a certificate for this stand, valid for two days. */
async function certificateIn(folder) {
  const [keyFile, certFile] = ['receiver-key.pem', 'receiver-cert.pem'].map((file) => path.join(folder, file));
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const names = ['-subj', '/CN=receiver', '-addext', `subjectAltName=IP:${ADDRESS}`];
  await run('openssl', ['req', ...kind, ...names, '-keyout', keyFile, '-out', certFile]);
  const [key, cert] = await Promise.all([keyFile, certFile].map((file) => readFile(file)));
  return { key, cert, certFile };
}

function isSigned(headers, body, secret) {
  const of = (name) => headers[name.toLowerCase()] ?? '';
  const parts = {
    path: PATH,
    bodySha256: sha256Hex(body),
    timestamp: of(HEADERS.timestamp),
    nonce: of(HEADERS.nonce),
    eventId: of(HEADERS.eventId),
  };
  return of(HEADERS.signature) === signWebhook(parts, secret);
}
