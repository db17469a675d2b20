import { EventEmitter, once } from 'node:events';
import http from 'node:http';
import { createServer } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { signResponse } from '@perennial/wire/bridge';
import { describe, expect, it } from 'vitest';
import {
  type BridgeOptions,
  createBridgeGateway,
  StatementUnavailable,
} from '../../src/gateways/bridge/bridge-gateway.js';
import { systemClock } from '../../src/platform/clock.js';
import { BEHALF, CARD, debitOf, gatewayTo, KEY } from '../institution/support.js';
import { capturedLog } from '../support/captured-log.js';
import { listen } from '../support/listen.js';

const SUCCESS = {
  attemptNo: '1',
  status: 'SUCCESS',
  amountCent: 1990,
  paidAt: 1_700_000_000_000,
  institutionRef: 'R1',
};
const unknown = { kind: 'unknown' };

type Answer = (request: http.IncomingMessage, response: http.ServerResponse, body: Buffer) => void;

/** Starts a bridge that answers the handshake itself and every other request as the test defines. */
async function bridge(answer: Answer): Promise<string> {
  const server = http.createServer(async (request, response) => {
    const body = await buffer(request);
    if (request.url?.endsWith('/handshake')) signed(request, response, { currency: 'CNY' });
    else answer(request, response, body);
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

/** Sends an answer that is correctly signed, unless the test changes the path, the nonce or the key. */
function signed(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  body: string | object,
  change: Partial<{ path: string; nonce: string; key: Buffer; status: number; headers: Record<string, string> }> = {},
): void {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const {
    path = request.url ?? '',
    nonce = String(request.headers['x-bridge-nonce']),
    key = KEY,
    status = 200,
  } = change;
  response.writeHead(status, { 'x-bridge-signature': signResponse(path, nonce, bytes, key), ...change.headers });
  response.end(bytes);
}

/** Returns an Answer function that sends this body, signed. */
const reply =
  (...[body, change]: ReplyArguments): Answer =>
  (request, response) =>
    signed(request, response, body, change);
type ReplyArguments = Parameters<typeof signed> extends [unknown, unknown, ...infer Rest] ? Rest : never;

describe('an answer', () => {
  it('comes from below the path of the address', async () => {
    const paths: (string | undefined)[] = [];
    const url = await bridge((request, response) => {
      paths.push(request.url);
      signed(request, response, SUCCESS);
    });
    expect(await gatewayTo(`${url}/banks/one/`).debit(debitOf('1'))).toMatchObject({ kind: 'success' });
    expect(paths).toEqual(['/banks/one/debit']);
  });

  it.each<[string, Answer]>([
    ['unsigned', (_request, response) => response.end(JSON.stringify(SUCCESS))],
    ['signed with another key', reply(SUCCESS, { key: Buffer.alloc(32, 8) })],
    ['signed for another path', reply(SUCCESS, { path: '/refund' })],
    ['signed for another request', reply(SUCCESS, { nonce: '0'.repeat(32) })],
    [
      'changed after it was signed',
      (request, response) => {
        const bytes = Buffer.from(JSON.stringify(SUCCESS));
        const nonce = String(request.headers['x-bridge-nonce']);
        response.setHeader('x-bridge-signature', signResponse('/debit', nonce, bytes, KEY));
        response.end(JSON.stringify({ ...SUCCESS, amountCent: 1 }));
      },
    ],
    [
      'with a signature that is not base64',
      (_request, response) => {
        response.setHeader('x-bridge-signature', `${'A'.repeat(42)}*=`);
        response.end(JSON.stringify(SUCCESS));
      },
    ],
    [
      'signed twice',
      (request, response) => {
        const nonce = String(request.headers['x-bridge-nonce']);
        const signature = signResponse(request.url ?? '', nonce, Buffer.from(JSON.stringify(SUCCESS)), KEY);
        response.setHeader('x-bridge-signature', [signature, signature]);
        response.end(JSON.stringify(SUCCESS));
      },
    ],
    ['not JSON', reply('SUCCESS')],
    ['an array', reply('[]')],
    ['empty', reply('')],
    ['with HTTP 500', reply(SUCCESS, { status: 500 })],
    ['with HTTP 201', reply(SUCCESS, { status: 201 })],
    ['with HTTP 409', reply({ error: 'conflict' }, { status: 409 })],
    ['a redirect, which is not followed', reply(SUCCESS, { status: 307, headers: { location: '/debit' } })],
    ['too large', reply({ ...SUCCESS, padding: 'x'.repeat(65_536) })],
    ['endless', (_request, response) => void endless(response)],
    ['a reset connection', (request) => void request.socket.resetAndDestroy()],
    [
      'truncated',
      (_request, response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"attemptNo"', () => response.destroy());
      },
    ],
  ])('%s is unknown: neither success nor failure', async (_what, answer) => {
    const gateway = gatewayTo(await bridge(answer));
    expect(await gateway.debit(debitOf('1'))).toEqual(unknown);
    expect(await gateway.queryDebit(debitOf('1'))).toEqual(unknown);
  });

  it('of the largest permitted size counts', async () => {
    const length = 65_536 - JSON.stringify({ ...SUCCESS, padding: '' }).length;
    const url = await bridge(reply({ ...SUCCESS, padding: 'x'.repeat(length) }));
    expect(await gatewayTo(url).debit(debitOf('1'))).toMatchObject({ kind: 'success' });
  });

  it('is unknown if nothing listens', async () => {
    const server = createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    expect(await gatewayTo(`http://127.0.0.1:${port}`).debit(debitOf('1'))).toEqual(unknown);
  });
});

function endless(response: http.ServerResponse): void {
  const chunk = 'x'.repeat(16_384);
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', more);
  more();
}

describe('the deadline', () => {
  // Short deadlines make the test quick. The test checks only that the call ends, not when.
  const deadlineMs = { debit: 150, other: 150 };

  it('ends a call to a bridge that never accepts the request', async () => {
    const port = await listen(createServer((socket) => void socket.on('error', () => undefined)));
    const gateway = gatewayTo(`http://127.0.0.1:${port}`, { deadlineMs });
    expect(await gateway.debit(debitOf('1'))).toEqual(unknown);
  });

  it('ends a call whose headers came, and whose body is slow', async () => {
    const url = await bridge((_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(drip));
    });
    const gateway = gatewayTo(url, { deadlineMs });
    expect(await gateway.debit(debitOf('1'))).toEqual(unknown);
    expect(await gateway.refund({ ...BEHALF, refundNo: '1', attemptNo: '1', amountCent: 1 })).toEqual(unknown);
    expect(await gateway.cancelAgreement({ ...BEHALF, agreementNo: '1', institutionNo: 'a' })).toEqual(unknown);
  });

  it('ends a call that waits for a free connection: it is not sent later', async () => {
    const seen: unknown[] = [];
    const held = new EventEmitter();
    const url = await bridge((request, response) => {
      seen.push(request.url);
      const answer = () => signed(request, response, SUCCESS);
      if (seen.length > 1) answer();
      else held.once('go on', answer);
    });
    const gateway = gatewayTo(url, { deadlineMs: { debit: 50, other: 60_000 }, connections: 1 });
    const first = gateway.queryDebit(debitOf('1'));
    expect(await gateway.debit(debitOf('1'))).toEqual(unknown);
    held.emit('go on');
    await first;
    expect(await gateway.queryDebit(debitOf('1'))).toMatchObject({ kind: 'success' });
    expect(seen).toEqual(['/debit-query', '/debit-query']);
  });

  it('of an ended call does not affect the next one on its connection', async () => {
    const held = new EventEmitter();
    const url = await bridge((request, response, body) => {
      const { attemptNo } = JSON.parse(body.toString());
      const answer = () => signed(request, response, { ...SUCCESS, attemptNo });
      if (request.url === '/debit-query') held.once('go on', answer);
      else if (attemptNo === '1') answer();
    });
    const gateway = gatewayTo(url, { deadlineMs: { debit: 1_000, other: 60_000 }, connections: 2 });
    expect(await gateway.debit(debitOf('1'))).toMatchObject({ kind: 'success' });
    const next = gateway.queryDebit(debitOf('1'));
    // The query before this debit has a later deadline, so only the debit is given up.
    expect(await gateway.debit(debitOf('2'))).toEqual(unknown);
    held.emit('go on');
    expect(await next).toMatchObject({ kind: 'success' });
  });
});

describe('a request', () => {
  it('has the attempt number as its idempotency key, and only the documented fields', async () => {
    const seen: { url: string | undefined; key: unknown; type: unknown; body: object }[] = [];
    const url = await bridge((request, response, body) => {
      const { 'idempotency-key': key, 'content-type': type } = request.headers;
      seen.push({ url: request.url, key, type, body: JSON.parse(body.toString()) });
      signed(request, response, {});
    });
    const gateway = gatewayTo(url);
    await gateway.debit({ ...debitOf('42'), ...{ secret: 'x' } });
    await gateway.refund({ ...BEHALF, refundNo: '43', attemptNo: '42', amountCent: 5 });
    await gateway.queryDebit(debitOf('42'));
    const type = 'application/json;charset=UTF-8';
    const currency = 'CNY';
    expect(seen).toEqual([
      { url: '/debit', key: '42', type, body: { ...debitOf('42'), currency } },
      {
        url: '/refund',
        key: '43',
        type,
        body: { ...BEHALF, refundNo: '43', attemptNo: '42', amountCent: 5, currency },
      },
      {
        url: '/debit-query',
        key: undefined,
        type,
        body: expect.not.objectContaining({ institutionNo: 'SHARED-8888' }),
      },
    ]);
  });

  it.each<[string, number, Record<string, string>]>([
    ['its connection again', 1, {}],
    ['a new connection if the bridge is about to close its own', 5, { 'keep-alive': 'timeout=1' }],
  ])('uses %s', async (_what, connections, headers) => {
    const sockets = new Set<unknown>();
    const url = await bridge((request, response) => {
      sockets.add(request.socket);
      signed(request, response, SUCCESS, { headers: { connection: 'keep-alive', ...headers } });
    });
    const gateway = gatewayTo(url, { connections: 1 });
    for (let count = 0; count < 5; count += 1) {
      expect(await gateway.debit(debitOf('1'))).toMatchObject({ kind: 'success', amountCent: 1990 });
    }
    expect(sockets.size).toBe(connections);
  });

  it('waits for a free connection, and gets one in order', async () => {
    const seen: unknown[] = [];
    const url = await bridge((request, response, body) => {
      const { attemptNo } = JSON.parse(body.toString());
      seen.push(attemptNo);
      // The bridge breaks the connection of the second debit. The debits that wait behind this debit get a new
      // connection.
      if (attemptNo === '2') request.socket.destroy();
      else signed(request, response, { ...SUCCESS, attemptNo });
    });
    const gateway = gatewayTo(url, { connections: 1 });
    const numbers = ['1', '2', '3', '4'];
    const outcomes = await Promise.all(numbers.map((attemptNo) => gateway.debit(debitOf(attemptNo))));
    expect(outcomes.map(({ kind }) => kind)).toEqual(['success', 'unknown', 'success', 'success']);
    expect(seen).toEqual(numbers);
  });

  it('is interrupted when the gateway is closed, also while it waits; no further ones are made', async () => {
    const { log, lines } = capturedLog();
    const arrived = new EventEmitter();
    const gateway = gatewayTo(await bridge(() => arrived.emit('request')), { connections: 1, log });
    const outcomes = Promise.all(['1', '2'].map((attemptNo) => gateway.debit(debitOf(attemptNo))));
    await once(arrived, 'request');
    await gateway.close();
    expect(await outcomes).toEqual([unknown, unknown]);
    expect(await gateway.debit(debitOf('3'))).toEqual(unknown);
    // The log has one line for both debits, because the cause is the same.
    expect(lines()).toMatchObject([{ why: 'this node has closed the connection' }]);
  });

  it('leaves no card, code or key in the log', async () => {
    const { log, text, lines } = capturedLog();
    const gateway = gatewayTo(await bridge((_request, response) => response.end()), { log });
    expect(await gateway.sendBindCode({ ...BEHALF, bindOrderNo: '55', bankCode: undefined, card: CARD })).toEqual(
      unknown,
    );
    expect(
      await gateway.confirmBind({ ...BEHALF, bindOrderNo: '55', reference: undefined, smsCode: '654321' }),
    ).toEqual(unknown);
    expect(await gateway.debit(debitOf('1', 'secret-agreement'))).toEqual(unknown);
    expect(lines()).toMatchObject([
      { operation: 'bind-code', why: 'the signature of the answer does not match' },
      { operation: 'bind-confirm' },
      { operation: 'debit', number: '1' },
    ]);
    const secrets = [...Object.values(CARD), '654321', 'secret-agreement', KEY.toString('base64')];
    for (const secret of secrets) expect(text()).not.toContain(secret);
  });

  it.each([
    ['no address', 'nowhere', KEY],
    ['another protocol', 'ftp://bank.example/', KEY],
    ['a query', 'https://bank.example/?a=1', KEY],
    ['a user', 'https://user:pass@bank.example/', KEY],
    ['a short key', 'https://bank.example/', Buffer.alloc(31)],
  ])('cannot be made to %s', (_what, url, key) => {
    expect(() => createBridgeGateway({ url, key, clock: systemClock })).toThrow(/must/);
  });
});

describe('a statement', () => {
  const line = (number: string) => ({
    kind: 'DEBIT',
    number,
    amountCent: 1990,
    status: 'SUCCESS',
    bookedAt: 1_700_000_000_000,
    institutionRef: `R${number}`,
  });
  async function read(answer: (cursor: unknown) => object, options: Partial<BridgeOptions> = {}) {
    const url = await bridge((request, response, body) =>
      signed(request, response, answer(JSON.parse(body.toString()).cursor)),
    );
    const numbers: string[] = [];
    for await (const { number } of gatewayTo(url, options).statement('2026-03-20')) numbers.push(number);
    return numbers;
  }
  const day = '2026-03-20';

  it('is read page by page', async () => {
    const numbers = await read((cursor) =>
      cursor === null ? { day, lines: [line('1')], nextCursor: 'x' } : { day, lines: [line('2')], nextCursor: null },
    );
    expect(numbers).toEqual(['1', '2']);
  });

  it('has pages of up to 1 MB', async () => {
    const padding = 'x'.repeat(1_000_000);
    expect(await read(() => ({ day, lines: [line('1')], nextCursor: null, padding }))).toEqual(['1']);
    await expect(read(() => ({ day, lines: [], nextCursor: null, padding: `${padding}${padding}` }))).rejects.toThrow(
      StatementUnavailable,
    );
  });

  it.each<[string, (cursor: unknown) => object]>([
    ['is truncated', (cursor) => (cursor === null ? { day, lines: [line('1')], nextCursor: 'x' } : {})],
    ['repeats a page', () => ({ day, lines: [line('1')], nextCursor: 'x' })],
    ['is of another day', () => ({ day: '2026-03-21', lines: [], nextCursor: null })],
  ])('that %s is not taken as complete', async (_what, answer) => {
    await expect(read(answer)).rejects.toThrow(StatementUnavailable);
  });

  it.each([
    ['pages', { statementPages: 3 }],
    ['time', { deadlineMs: { statement: 0 } }],
  ])('is limited in its %s', async (_what, options) => {
    const endless = (cursor: unknown) => ({ day, lines: [line('1')], nextCursor: `${cursor}x` });
    await expect(read(endless, options)).rejects.toThrow('does not end');
  });
});
