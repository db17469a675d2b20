import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { openVault } from '../../src/platform/secrets/vault.js';
import { gate as newGate } from '../agreements/support.js';
import { type ChannelClient, type ChannelCredentials, channelClient } from '../support/channel-client.js';
import { type FreshDatabase, freshDatabase, lockWaits } from '../support/database.js';
import { LEDGER_NODE, ledgerPort, type Running, start, until } from '../support/processes.js';

/** Tests idempotency as a channel sees it, on several real nodes over one database. */
let fresh: FreshDatabase;
let channel: ChannelCredentials;
let other: ChannelCredentials;
const nodes: Running[] = [];
/** Client of a node whose lease on a request lasts an hour. `b` is a client of another node. */
let a: ChannelClient;
let b: ChannelClient;
/** Client of a node on which a duplicate waits at most 400 ms for the answer to the first request. */
let impatient: ChannelClient;
let port: number;
const masterKey = randomBytes(32);

async function node(options: object = {}): Promise<{ running: Running; client: ChannelClient; port: number }> {
  const running = start(LEDGER_NODE, {
    DATABASE_URL: fresh.url,
    MASTER_KEY: masterKey.toString('base64'),
    PORT: '0',
    LOG_LEVEL: 'silent',
    LEDGER_OPTIONS: JSON.stringify({ leaseSeconds: 1, ...options }),
  });
  nodes.push(running);
  const port = await ledgerPort(running);
  return { running, client: channelClient(`http://127.0.0.1:${port}`, channel), port };
}

beforeAll(async () => {
  fresh = await freshDatabase();
  const operator = {
    database: fresh.database,
    vault: openVault([masterKey]),
    environment: 'sandbox',
    actor: 'test',
  } as const;
  channel = await createChannel(operator, { name: 'One', ratePerSecond: 10_000 });
  other = await createChannel(operator, { name: 'Two', ratePerSecond: 10_000 });
  const [first, second, third] = await Promise.all([node({ leaseSeconds: 3600 }), node(), node({ waitMs: 400 })]);
  a = first.client;
  port = first.port;
  b = second.client;
  impatient = third.client;
});

afterAll(async () => {
  for (const { child } of nodes) child.kill('SIGTERM');
  await Promise.all(nodes.map((running) => running.exited));
  await fresh.close();
});

const rows = async (ref: string) =>
  (await fresh.database.query<{ n: number }>('select count(*) as n from test_ledger where ref = $1', [ref]))[0]?.n;
const calls = async (ref: string) =>
  (await fresh.database.query<{ n: number }>('select count(*) as n from test_calls where ref = $1', [ref]))[0]?.n;
const ids = () => ({ ref: randomUUID(), key: randomUUID() });

/** Takes an advisory lock (the gate) and holds it until `open` is called. */
async function closedGate(): Promise<{ gate: number; open: () => Promise<void> }> {
  const gate = 1_000_000 + Math.floor(Math.random() * 1_000_000);
  const held = newGate();
  const done = fresh.database.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [gate]);
    await held.stand();
  });
  await held.reached;
  // Opens the gate even if the test fails, because the open transaction would keep the database from closing.
  onTestFinished(held.open);
  return {
    gate,
    async open() {
      held.open();
      await done;
    },
  };
}

const waitingAtLocks = () => lockWaits(fresh.database);

describe('a resend with the same Idempotency-Key', () => {
  it('gets the first answer on either node, with a header, and has no second effect', async () => {
    const { ref, key } = ids();
    const first = await a.call('test/add', { ref }, { idempotencyKey: key });
    expect(first.code).toBe('0');
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    for (const client of [a, b, a]) {
      const again = await client.call('test/add', { ref }, { idempotencyKey: key, requestId: 'again-1' });
      expect(again.status).toBe(200);
      expect(again.headers['idempotency-replayed']).toBe('true');
      expect(again.envelope).toEqual({
        ...first.envelope,
        requestId: 'again-1',
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      });
    }
    expect(await rows(ref)).toBe(1);
  });

  it('without a key runs every time', async () => {
    const { ref } = ids();
    await a.call('test/add', { ref });
    await a.call('test/add', { ref });
    expect(await rows(ref)).toBe(2);
  });

  it('belongs to its channel: the same key of another channel is another request', async () => {
    const { ref, key } = ids();
    const stranger = channelClient(`http://127.0.0.1:${port}`, other);
    expect((await a.call('test/add', { ref }, { idempotencyKey: key })).code).toBe('0');
    const reply = await stranger.call('test/add', { ref }, { idempotencyKey: key });
    expect(reply.code).toBe('0');
    expect(reply.headers['idempotency-replayed']).toBeUndefined();
    expect(await rows(ref)).toBe(2);
  });

  it('0: runs again after seven days, and that answer is then replayed', async () => {
    const { ref, key } = ids();
    await a.call('test/add', { ref }, { idempotencyKey: key });
    const age = (interval: string) =>
      fresh.database.query(`update idempotency set created_at = now() - $2::interval where key = $1`, [key, interval]);
    await age('6 days 23:59:00');
    expect((await a.call('test/add', { ref }, { idempotencyKey: key })).headers['idempotency-replayed']).toBe('true');
    await age('7 days 00:00:01');
    const anew = await a.call('test/add', { ref: `${ref}-2` }, { idempotencyKey: key });
    expect(anew.data.ref).toBe(`${ref}-2`);
    const replay = await b.call('test/add', { ref: `${ref}-2` }, { idempotencyKey: key });
    expect(replay.data).toEqual(anew.data);
    expect(await rows(`${ref}-2`)).toBe(1);
  });
});

describe('an answer with a description', () => {
  it('is rendered for each resend with the same bytes on either node; only the description is stored', async () => {
    const { ref, key } = ids();
    const first = await a.call('test/describe', { ref }, { idempotencyKey: key, requestId: 'same' });
    expect(first.code).toBe('0');
    expect(first.text.length).toBeGreaterThan(1_000_000);
    for (const client of [b, a]) {
      const again = await client.call('test/describe', { ref }, { idempotencyKey: key, requestId: 'same' });
      expect(again.headers['idempotency-replayed']).toBe('true');
      const stamp = /"timestamp":"[^"]+"/;
      expect(again.text.replace(stamp, '') === first.text.replace(stamp, '')).toBe(true);
    }
    expect(await rows(ref)).toBe(1);
    const [row] = await fresh.database.query('select state, data from idempotency where key = $1', [key]);
    expect(row).toEqual({ state: 'DESCRIBED', data: JSON.stringify({ ref, serial: first.data.serial }) });
  });
});

describe('409001: the key was used for another request', () => {
  it.each([
    ['another body', (ref: string) => ({ name: 'test/add', raw: JSON.stringify({ ref: `${ref}x` }) })],
    ['the same body at another endpoint', (ref: string) => ({ name: 'test/two-step', raw: JSON.stringify({ ref }) })],
  ])('%s', async (_what, change) => {
    const { ref, key } = ids();
    await a.call('test/add', { ref }, { idempotencyKey: key });
    const { name, raw } = change(ref);
    const reply = await b.call(name, undefined, { raw, idempotencyKey: key });
    expect(reply.status).toBe(200);
    expect(reply.code).toBe('409001');
    expect(await rows(ref)).toBe(1);
  });
});

describe('stored outcomes', () => {
  it('a rejection by the business rules is stored, with its effects rolled back', async () => {
    const { ref, key } = ids();
    const body = { ref, reject: 'SUBSCRIPTION_NOT_FOUND' };
    const first = await a.call('test/add', body, { idempotencyKey: key });
    expect(first.code).toBe('420001');
    const again = await b.call('test/add', body, { idempotencyKey: key });
    expect(again.code).toBe('420001');
    expect(again.envelope.message).toBe(first.envelope.message);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(await rows(ref)).toBe(0);
  });

  it.each([
    ['400001 of the schema', {}],
    ['400001 of the rules', { reject: 'PARAM_INVALID' }],
    ['400002', { reject: 'DECRYPT_FAILED' }],
    ['429002', { reject: 'SMS_TOO_FREQUENT' }],
    ['500001', { fault: true }],
  ])('%s is not stored: the corrected request may use the same key', async (what, wrong) => {
    const { ref, key } = ids();
    const refused = await a.call('test/add', what.includes('schema') ? { ref: 1 } : { ref, ...wrong }, {
      idempotencyKey: key,
    });
    expect(refused.code).toBe(what.slice(0, 6));
    const mended = await b.call('test/add', { ref }, { idempotencyKey: key });
    expect(mended.code).toBe('0');
    expect(mended.headers['idempotency-replayed']).toBeUndefined();
    expect(await rows(ref)).toBe(1);
  });

  it.each([
    ['empty', ''],
    ['129 characters', 'k'.repeat(129)],
    ['a space inside', 'a b'],
    ['sent twice', ['a', 'b']],
  ])('400001: a key that is %s', async (_what, value) => {
    const { ref } = ids();
    const reply = await a.call('test/add', { ref }, { headers: { 'Idempotency-Key': value } });
    expect(reply.code).toBe('400001');
    expect(reply.envelope.message).toContain('Idempotency-Key');
    expect(await rows(ref)).toBe(0);
  });
});

describe('concurrent duplicates', () => {
  it.each([
    ['test/add', 100, 'one node', () => a],
    ['test/add', 100, 'two nodes', () => b],
    ['test/describe', 20, 'two nodes', () => b],
  ])('%s, %i at once on %s: one runs, the others get its answer', async (name, count, _where, other) => {
    const { ref, key } = ids();
    const replies = await Promise.all(
      Array.from({ length: count }, (_, n) => (n % 2 ? a : other()).call(name, { ref }, { idempotencyKey: key })),
    );
    expect(new Set(replies.map((reply) => reply.code))).toEqual(new Set(['0']));
    expect(new Set(replies.map((reply) => reply.data.serial)).size).toBe(1);
    expect(replies.filter((reply) => reply.headers['idempotency-replayed'] === 'true')).toHaveLength(count - 1);
    expect(await rows(ref)).toBe(1);
  });

  it('on another node before the first commits: waits for the first and returns its answer', async () => {
    const { ref, key } = ids();
    const { gate, open } = await closedGate();
    const first = a.call('test/add', { ref, gate }, { idempotencyKey: key });
    await until('the first at the gate', async () => (await waitingAtLocks()) === 1);
    const second = b.call('test/add', { ref, gate }, { idempotencyKey: key });
    await until('both waiting', async () => (await waitingAtLocks()) === 2);
    await open();
    const [one, two] = await Promise.all([first, second]);
    expect(one.code).toBe('0');
    expect(two.data).toEqual(one.data);
    expect(await rows(ref)).toBe(1);
  });

  it('in another spelling, on either node: waits for the first and returns its answer', async () => {
    const { ref, key } = ids();
    const { gate, open } = await closedGate();
    const first = a.call('test/add', { ref, gate }, { idempotencyKey: key });
    await until('the first at the gate', async () => (await waitingAtLocks()) === 1);
    const raw = `{ "gate": ${gate}.0, "ref": "${ref}" }`;
    const twins = [a, b].map((client) => client.call('test/add', {}, { raw, idempotencyKey: key }));
    await until('one waiting in the database, the other in memory', async () => (await waitingAtLocks()) === 2);
    await open();
    const { data } = await first;
    for (const twin of await Promise.all(twins)) expect(twin.data).toEqual(data);
    expect(await rows(ref)).toBe(1);
  });

  it('409002: the first is still running when the wait ends; later its answer is returned', async () => {
    const { ref, key } = ids();
    const { gate, open } = await closedGate();
    const first = impatient.call('test/add', { ref, gate }, { idempotencyKey: key });
    await until('the first at the gate', async () => (await waitingAtLocks()) === 1);
    const second = await impatient.call('test/add', { ref, gate }, { idempotencyKey: key });
    expect(second.status).toBe(200);
    expect(second.code).toBe('409002');
    await open();
    const done = await first;
    expect(done.code).toBe('0');
    const third = await impatient.call('test/add', { ref, gate }, { idempotencyKey: key });
    expect(third.data).toEqual(done.data);
    expect(await rows(ref)).toBe(1);
  });

  it('with another body: 409001 once the first has finished', async () => {
    const { ref, key } = ids();
    const { gate, open } = await closedGate();
    const first = a.call('test/add', { ref, gate }, { idempotencyKey: key });
    await until('the first at the gate', async () => (await waitingAtLocks()) === 1);
    const second = a.call('test/add', { ref: `${ref}x`, gate }, { idempotencyKey: key });
    await open();
    expect((await first).code).toBe('0');
    expect((await second).code).toBe('409001');
    expect(await rows(`${ref}x`)).toBe(0);
  });
});

describe('work in two transactions', () => {
  it('409002 on another node while the call between the transactions is in flight, then its answer', async () => {
    const { ref, key } = ids();
    const { gate, open } = await closedGate();
    const first = a.call('test/two-step', { ref, gate }, { idempotencyKey: key });
    await until('the call outside', async () => (await calls(ref)) === 1);
    expect((await impatient.call('test/two-step', { ref, gate }, { idempotencyKey: key })).code).toBe('409002');
    await open();
    const done = await first;
    expect(done.code).toBe('0');
    const replayed = await impatient.call('test/two-step', { ref, gate }, { idempotencyKey: key });
    expect(replayed.data).toEqual(done.data);
    expect(await rows(ref)).toBe(1);
    expect(await calls(ref)).toBe(1);
  });

  it('kill -9 between the transactions: one of many resends finishes the work, nothing is done twice', async () => {
    const { ref, key } = ids();
    const doomed = await node();
    const { gate, open } = await closedGate();
    const lost = doomed.client.call('test/two-step', { ref, gate }, { idempotencyKey: key });
    await Promise.race([
      lost.then(({ text }) => expect.unreachable(text)),
      until('the call outside', async () => (await calls(ref)) === 1),
    ]);
    doomed.running.child.kill('SIGKILL');
    await expect(lost).rejects.toThrow();
    await open();
    const answers = await until('an answer to the resends', async () => {
      const replies = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          (n % 2 ? a : b).call('test/two-step', { ref, gate }, { idempotencyKey: key }),
        ),
      );
      return replies.every((reply) => reply.code === '0') ? replies : undefined;
    });
    expect(new Set(answers.map((reply) => reply.data.serial)).size).toBe(1);
    expect(await rows(ref)).toBe(1);
    expect(await calls(ref)).toBe(1);
  });

  it('a fault between the transactions: the resend finishes at once, without waiting for the lease', async () => {
    const { ref, key } = ids();
    const body = { ref, fault: true };
    expect((await a.call('test/two-step', body, { idempotencyKey: key })).code).toBe('500001');
    const resent = await b.call('test/two-step', body, { idempotencyKey: key });
    expect(resent.code).toBe('0');
    expect(await rows(ref)).toBe(1);
    expect(await calls(ref)).toBe(1);
  });
});
