import { once } from 'node:events';
import http from 'node:http';
import { HEADERS, sha256Hex, signWebhook } from '@perennial/wire';

const PATH = '/events';
const ACCEPTED = '{"code":"0"}';

/** The channel's own record of the events: every push that came, and what it said the first time. */
export async function startReceiver() {
  /** By eventId. */
  const events = new Map();
  let secret;
  let forged = 0;
  const server = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    if (!isSigned(request.headers, body, secret)) {
      forged += 1;
      response.writeHead(401).end();
      return;
    }
    const { eventId, data } = JSON.parse(body.toString('utf8'));
    const known = events.get(eventId);
    if (known === undefined) events.set(eventId, { orderNo: data.orderNo, pushes: 1 });
    else known.pushes += 1;
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(ACCEPTED);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}${PATH}`,
    events,
    forged: () => forged,
    pushes: () => [...events.values()].reduce((sum, event) => sum + event.pushes, 0),
    use(callbackSecret) {
      secret = Buffer.from(callbackSecret, 'base64');
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
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
