// Receives events, as a channel must: verifies the signature over the raw bytes, acknowledges known events without
// processing them again, and answers HTTP 200 with {"code":"0"}. Prints each event. Uses only Node's own modules.
//
//   node examples/receiver.mjs [path to demo-channel.json] [port]
//   npx perennial-server channel set test_demo --callback http://localhost:3000/events
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { print, readChannel, stop } from './client.mjs';

const PATH = '/events';
const channel = readChannel();
const callbackSecret = Buffer.from(channel.callbackSecret, 'base64');
// The ids of processed events. In production, store an event's id in the same transaction as the event's changes, and
// keep it for 30 days.
const dealtWith = new Set();
// The greatest age of an accepted push. Each push is signed when it is sent, so an older timestamp means a replay.
const MAX_AGE_MS = 5 * 60_000;
// The size limit of a body, much larger than any event.
const MAX_BYTES = 1_000_000;

const server = createServer((request, response) => {
  const answer = (status, code) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(`{"code":"${code}"}`);
  receive(request, answer).catch((error) => {
    // For example, the connection was dropped. The service sends unacknowledged events again.
    print(`failed: ${error.message}`);
    answer(500, 'failed');
  });
});

async function receive(request, answer) {
  if (request.method !== 'POST' || request.url !== PATH) return answer(404, 'not-found');
  const body = await readBody(request);
  if (body === undefined) return answer(413, 'too-large');
  const fault = findFault(request.headers, body);
  if (fault) {
    print(`refused: ${fault}`);
    return answer(401, fault);
  }
  deal(JSON.parse(body.toString('utf8')));
  // The service waits 5 s for the answer. Do longer work after answering.
  answer(200, '0');
}

/**
 * Returns the body, or undefined if it is too large. Reads even a body that is too large to its end, so that the sender
 * gets the answer.
 */
async function readBody(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= MAX_BYTES) chunks.push(chunk);
  }
  return size <= MAX_BYTES ? Buffer.concat(chunks) : undefined;
}

/**
 * Returns what is wrong with the push, for this program's output and for the service. Returns undefined if the push is
 * valid.
 */
function findFault(headers, body) {
  if (!headers['x-svc-signature']) return 'it has no signature';
  if (!isSigned(headers, body)) return 'the signature is not right';
  const ageMs = Date.now() - Number(headers['x-svc-timestamp']);
  if (ageMs > MAX_AGE_MS) return 'it was sent too long ago';
  if (ageMs < -MAX_AGE_MS) return 'its timestamp is in the future';
  return Number.isNaN(ageMs) ? 'its timestamp is not a number' : undefined;
}

/**
 * Verifies seven lines, as for a request: the third is the query string (empty), the last is the event id from the
 * header.
 */
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
  print(`event     ${eventId}  ${occurredAt}  ${eventType}  ${tell(eventType, data)}`);
}

/** Describes an event. Unknown types are acknowledged too, because later versions may add types. */
function tell(eventType, { orderNo, orderStatus, cycleNo, paymentStatus, expectPayTime }) {
  if (eventType === 'order.status.changed') return `order ${orderNo}  ${orderStatus}`;
  if (eventType === 'payment.status.changed') return `order ${orderNo}  period ${cycleNo} ${paymentStatus}`;
  // In production, notify the user in time, with data.redeemUrl as the link for unsubscribing before the debit.
  if (eventType === 'payment.upcoming') return `order ${orderNo}  period ${cycleNo} is due ${expectPayTime}`;
  return 'a type that is not known here';
}

server.on('error', (error) => stop(`it cannot listen: ${error.message}`));
server.listen(Number(process.argv[3] ?? 3000), '127.0.0.1', () => {
  print(`listening http://localhost:${server.address().port}${PATH}`);
});
