// Receives events, as a channel must: the signature is checked over the bytes that came, an event that came before is
// acknowledged and not dealt with again, and the answer is HTTP 200 with {"code":"0"}. Prints each event. On Node's own
// modules only.
//
//   node examples/receiver.mjs [path to demo-channel.json] [port]
//   npx perennial channel set-callback test_demo http://localhost:3000/events
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { print, readChannel, stop } from './client.mjs';

const PATH = '/events';
const channel = readChannel();
const callbackSecret = Buffer.from(channel.callbackSecret, 'base64');
// Where this is in earnest: in the database, in the transaction of what an event changes, for 30 days.
const dealtWith = new Set();
// Each push is signed when it is sent: what is older is a copy that somebody kept.
const MAX_AGE_MS = 5 * 60_000;

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const answer = (status, code) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(`{"code":"${code}"}`);

  if (request.method !== 'POST' || request.url !== PATH) return answer(404, 'not-found');
  if (!isSigned(request.headers, body)) {
    print('refused: the signature is not right');
    return answer(401, 'signature');
  }
  if (!(Math.abs(Date.now() - Number(request.headers['x-svc-timestamp'])) <= MAX_AGE_MS)) {
    print('refused: it was sent too long ago');
    return answer(401, 'timestamp');
  }
  deal(JSON.parse(body.toString('utf8')));
  // Within 5 s. Whatever takes longer is done afterwards.
  answer(200, '0');
});

/** Seven lines, as for a request; the third is the query, which is empty, and the last the event's id from its header. */
function isSigned(headers, body) {
  const digest = createHash('sha256').update(body).digest('hex');
  const lines = [
    'POST',
    PATH,
    '',
    digest,
    headers['x-svc-timestamp'],
    headers['x-svc-nonce'],
    headers['x-svc-event-id'],
  ];
  const expected = createHmac('sha256', callbackSecret).update(lines.join('\n')).digest();
  const given = Buffer.from(headers['x-svc-signature'] ?? '', 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function deal({ eventId, eventType, occurredAt, retryNo, data }) {
  if (dealtWith.has(eventId)) return print(`again     ${eventId}, retryNo ${retryNo}: it was dealt with`);
  dealtWith.add(eventId);
  const what = inWords(eventType, data);
  print(`event     ${eventId}  ${occurredAt}  ${eventType}  order ${data.orderNo}  ${what}`);
}

/** A type that is not here is acknowledged all the same: later versions may have more. */
function inWords(eventType, data) {
  if (eventType === 'order.status.changed') return data.orderStatus;
  if (eventType === 'payment.status.changed') return `period ${data.cycleNo} ${data.paymentStatus}`;
  // Where this is in earnest: tell the user, with the link under which it can be ended before. Not if it came too late.
  if (eventType === 'payment.upcoming') return `period ${data.cycleNo} is due ${data.expectPayTime}: ${data.redeemUrl}`;
  return '';
}

server.on('error', (error) => stop(`it cannot listen: ${error.message}`));
server.listen(Number(process.argv[3] ?? 3000), '127.0.0.1', () => {
  print(`listening http://localhost:${server.address().port}${PATH}`);
});
