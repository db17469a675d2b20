import { signedHeaders } from '@perennial/wire/bridge';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/platform/clock.js';
import {
  attached,
  BEHALF,
  debitOf,
  gatewayTo,
  KEY,
  ledgerOf,
  noticeEndpoint,
  understood,
} from '../institution/support.js';
import { faultyProxy } from '../kit/faulty-proxy.js';
import { until } from '../support/processes.js';

/** Starts a proxy that answers /handshake like an older bridge, which does not know currencies. */
async function olderBridge(target: string, status = 404) {
  const nothing = { status, body: '{"error":"there is nothing here"}' };
  const proxy = await faultyProxy(target, { '/handshake': () => nothing }, () => true);
  onTestFinished(proxy.close);
  return { url: proxy.url, asked: () => proxy.seen.map(({ endpoint }) => endpoint) };
}

const noticeOf = (fields: object) => {
  const path = '/gateway/v1/notices/REFBANK';
  const said = { kind: 'AGREEMENT_CANCELED', noticeNo: 'N1', institutionNo: 'X', reason: '', ...fields };
  const body = Buffer.from(JSON.stringify(said));
  return { path, headers: signedHeaders({ path, body, now: systemClock.now(), requestId: 'N1' }, KEY), body };
};

it('a bridge with another currency is not called until it has the same', async () => {
  const { institution, dataDir } = await attached({ currency: 'EUR' });
  const named: string[] = [];
  const onHandshake = async (currency: string) => {
    named.push(currency);
  };
  const gateway = gatewayTo(institution.url, { currency: 'CNY', onHandshake });
  expect(await gateway.debit(debitOf('1'))).toEqual({ kind: 'unknown' });
  expect(await gateway.queryDebit(debitOf('1'))).toEqual({ kind: 'unknown' });
  expect(await gateway.refund({ ...BEHALF, refundNo: 'R1', attemptNo: '1', amountCent: 1 })).toEqual({
    kind: 'unknown',
  });
  await expect(gateway.statement('2026-01-01')[Symbol.asyncIterator]().next()).rejects.toThrow('no statement');
  expect(await ledgerOf(institution)).toMatchObject({ debits: [], refunds: [], arrivals: {} });
  expect(named).toEqual(['EUR', 'EUR', 'EUR', 'EUR']);

  const { port } = new URL(institution.url);
  await institution.stop();
  const right = await attached({ currency: 'CNY', port: Number(port), dataDir });
  // Repeats the debit, because the first call may use a connection that the former bridge has closed.
  await until('a debit at the new one', async () => (await gateway.debit(debitOf('1'))).kind === 'success');
  expect(await gateway.debit(debitOf('2'))).toMatchObject({ kind: 'success' });
  expect(named.slice(4)).toEqual(['CNY']);
  expect((await ledgerOf(right.institution)).debits).toHaveLength(2);
});

it.each([400, 404, 405, 501])(
  'a bridge that answers %i to a handshake is from before currencies, and counts as CNY',
  async (status) => {
    const { institution } = await attached();
    const older = await olderBridge(institution.url, status);
    const gateway = gatewayTo(older.url);
    expect(await gateway.debit(debitOf('1'))).toMatchObject({ kind: 'success' });
    expect(await gateway.debit(debitOf('2'))).toMatchObject({ kind: 'success' });
    expect(older.asked()).toEqual(['/handshake', '/debit', '/debit']);

    const inEuro = gatewayTo(older.url, { currency: 'EUR' });
    expect(await inEuro.debit(debitOf('3'))).toEqual({ kind: 'unknown' });
    expect(older.asked().slice(3)).toEqual(['/handshake']);
  },
);

it('a handshake without an answer leaves the outcome unknown, and is retried', async () => {
  const { institution } = await attached({ faults: [{ fault: 'answer-lost', operation: 'handshake', times: 1 }] });
  const gateway = gatewayTo(institution.url);
  expect(await gateway.debit(debitOf('1'))).toEqual({ kind: 'unknown' });
  expect((await ledgerOf(institution)).debits).toEqual([]);
  expect(await gateway.debit(debitOf('1'))).toMatchObject({ kind: 'success' });
});

it('a notice has its currency, and is refused if that is another one', async () => {
  const endpoint = await noticeEndpoint();
  const { gateway } = await attached({ currency: 'EUR', noticeUrl: endpoint.url }, { currency: 'EUR' });
  await gateway.debit(debitOf('1', '0004'));
  const [received] = await endpoint.count(1);
  if (received === undefined) throw new Error('no notice came');
  expect(JSON.parse(received.body.toString())).toMatchObject({ currency: 'EUR', attemptNo: '1' });
  expect(understood(gateway, received)).toMatchObject({ kind: 'debit' });

  const inYuan = gatewayTo('http://127.0.0.1:1');
  expect(() => understood(inYuan, received)).toThrow('the notice is not in CNY');
  expect(understood(inYuan, noticeOf({}))).toMatchObject({ kind: 'agreement-canceled' });
  expect(() => understood(gateway, noticeOf({}))).toThrow('the notice is not in EUR');
});
