// The imaginary bank itself, for testing the bridge: node examples/bridge/bank.mjs. BANK_PORT is 8070 by default,
// BANK_TOKEN is token; WEBHOOK_URL is where it reports payments. Everything is in memory: a restart forgets all payments.
// The end of a mandate's number selects the behaviour: debits on -POOR, -BLOCKED, -ENDED and -FOREIGN are refused, and
// debits on -SLOW take two seconds.
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

const REFUSALS = { POOR: 'NO_FUNDS', BLOCKED: 'CARD_BLOCKED', ENDED: 'MANDATE_ENDED', FOREIGN: 'NOT_YOUR_MANDATE' };
const PAGE = 50;
const SHANGHAI_MS = 8 * 3_600_000;

/** Parses a JSON object or array. Returns undefined for any other text. */
function readJson(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

export async function startBank({ port = 0, token, waitMs = 2_000 }) {
  const payments = new Map();
  const repayments = new Map();
  const enrolled = new Map();
  const ended = new Set();
  const bookings = [];
  let webhookUrl;

  const book = (type, entry) => {
    Object.assign(entry, { state: 'BOOKED', bookedAt: new Date().toISOString() });
    bookings.push({ type, ...entry });
  };
  async function tell(event) {
    const body = JSON.stringify(event);
    const signature = createHmac('sha256', token).update(body).digest('hex');
    if (webhookUrl) await fetch(webhookUrl, { method: 'POST', headers: { 'bank-signature': signature }, body });
  }
  function pay({ reference, mandate, cents }) {
    if (payments.has(reference)) return payments.get(reference);
    const kind = mandate.split('-').at(-1);
    const reason = ended.has(mandate) ? 'MANDATE_ENDED' : REFUSALS[kind];
    const payment = { id: randomUUID(), reference, cents, state: reason ? 'REFUSED' : 'WAITING', reason };
    payments.set(reference, payment);
    const bookLater = () => {
      book('PAYMENT', payment);
      tell({ event: 'payment', payment }).catch(() => {});
    };
    if (!reason && kind === 'SLOW') setTimeout(bookLater, waitMs);
    else if (!reason) book('PAYMENT', payment);
    return payment;
  }
  function payBack({ reference, payment: id, cents }) {
    if (repayments.has(reference)) return repayments.get(reference);
    const isPaid = [...payments.values()].some((one) => one.id === id && one.state === 'BOOKED');
    const repayment = { id: randomUUID(), reference, cents, state: 'REFUSED', reason: 'NO_SUCH_PAYMENT' };
    repayments.set(reference, repayment);
    if (isPaid) book('REPAYMENT', repayment);
    return repayment;
  }
  function confirm(reference, code) {
    if (!enrolled.has(reference)) return undefined;
    if (code !== '1234') return {};
    enrolled.set(reference, enrolled.get(reference) ?? `M-${randomUUID()}`);
    return { mandate: enrolled.get(reference) };
  }
  function list(day, page) {
    const ofDay = bookings.filter(
      ({ bookedAt }) => new Date(Date.parse(bookedAt) + SHANGHAI_MS).toISOString().slice(0, 10) === day,
    );
    const next = page * PAGE < ofDay.length ? page + 1 : null;
    return { bookings: ofDay.slice((page - 1) * PAGE, page * PAGE), next };
  }
  function answer(method, { pathname, searchParams }, body) {
    const [, noun, name = '', what] = pathname.split('/').map(decodeURIComponent);
    switch (`${method} ${noun}`) {
      case 'POST payments':
        return pay(body);
      case 'GET payments':
        return payments.get(name);
      case 'POST repayments':
        return payBack(body);
      case 'GET repayments':
        return repayments.get(name);
      case 'DELETE mandates':
        ended.add(name);
        return {};
      case 'GET bookings':
        return list(searchParams.get('day'), Number(searchParams.get('page')));
      case 'POST enrolments':
        if (what === 'code') return confirm(name, body.code);
        enrolled.set(body.reference, enrolled.get(body.reference));
        return { sent: true };
      default:
        return undefined;
    }
  }

  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString();
    if (request.headers.authorization !== `Bearer ${token}`) return response.writeHead(401).end();
    const body = readJson(text || '{}');
    if (body === undefined) return response.writeHead(400).end();
    const said = answer(request.method, new URL(request.url, 'http://bank'), body);
    return response.writeHead(said ? 200 : 404).end(JSON.stringify(said ?? {}));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    bookings,
    sendWebhooksTo(url) {
      webhookUrl = url;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { BANK_PORT = '8070', BANK_TOKEN = 'token', WEBHOOK_URL } = process.env;
  const bank = await startBank({ port: Number(BANK_PORT), token: BANK_TOKEN });
  bank.sendWebhooksTo(WEBHOOK_URL);
}
