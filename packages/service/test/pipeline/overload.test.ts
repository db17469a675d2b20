import { beforeAll, describe, expect, it } from 'vitest';
import type { Queryable } from '../../src/platform/db/database.js';
import { gate } from '../agreements/support.js';
import { serviceOfFile } from '../orders/stage-of-file.js';
import { anotherChannel } from '../orders/support.js';
import { type ChannelClient, type Reply, send } from '../support/channel-client.js';
import { lockWaits } from '../support/database.js';
import { collectRequest, demoChannel, sharedRequest, unique } from '../support/demo.js';
import { expectEnvelope } from '../support/envelope.js';
import { until } from '../support/processes.js';
import { rawConnection, requestBytes } from '../support/raw-http.js';
import { anotherNode, type Node } from '../support/second-node.js';
import { DONE, testRoute } from '../support/test-endpoint.js';

/** The node refuses a further request while it has this number of requests, as a node with a very low rate does. */
const MOST = 4;
const BODY = { orderNo: '1' };

const { service, channel } = serviceOfFile({}, demoChannel);
let other: ChannelClient;
beforeAll(async () => {
  other = await anotherChannel(service);
});

/** A route whose requests stay inside until the gate opens. */
function gatedRoute() {
  let waiting = 0;
  const { open, passed } = gate();
  const route = testRoute('test/at-the-gate', async ({ answer }) => {
    waiting += 1;
    await passed;
    return answer(DONE);
  });
  return { route, open, waiting: () => waiting };
}

/** Starts a node that is full of requests of one or more channels. */
async function fullNode(of: readonly ChannelClient[], most = of.length) {
  const { route, open, waiting } = gatedRoute();
  const node = await anotherNode(service, {
    moreRoutes: [route],
    testLimits: { load: { alwaysAllowed: most, unmeasured: most } },
  });
  // Makes the channels known to the node, because unknown channels share one part of its capacity.
  for (const one of new Set([channel, other, ...of])) await node.client(one).getToken();
  const inside: Promise<Reply>[] = [];
  for (const one of of) {
    const token = await one.getToken();
    inside.push(node.client(one).callBare('test/at-the-gate', BODY, { token }));
    await until('one more inside', () => waiting() === inside.length);
  }
  return {
    node,
    /** Opens the gate, and waits for all requests. */
    async empty(): Promise<Reply[]> {
      open();
      return Promise.all(inside);
    },
  };
}

const four = () => Array.from({ length: MOST }, () => channel);

function expectRefused(reply: Reply): void {
  expect([reply.status, reply.code, reply.headers['retry-after'], reply.data]).toEqual([503, '503001', '1', null]);
  expectEnvelope(reply.envelope, '503001');
}

const orders = async (externalOrderNo: string) =>
  (await service.fresh.database.query('select from external_orders where external_order_no = $1', [externalOrderNo]))
    .length;
const keys = async (key: string) =>
  (await service.fresh.database.query('select from idempotency where key = $1', [key])).length;

describe('an overloaded node', () => {
  it('503001: at once, with Retry-After; nothing is stored, and the same request may be sent again', async () => {
    const { node, empty } = await fullNode(four());
    const client = node.client(channel);
    // Gets the token from another node, because the full node issues none.
    const token = await channel.getToken();
    const request = collectRequest(channel);
    const options = { token, idempotencyKey: unique('key'), nonce: 'ab'.repeat(16), requestId: unique('request') };
    const refused = await client.callBare('orders/create', request, options);
    expectRefused(refused);
    expect(refused.envelope.requestId).toBe(options.requestId);
    expect([await orders(request.externalOrderNo), await keys(options.idempotencyKey)]).toEqual([0, 0]);
    expect((await empty()).map(({ code }) => code)).toEqual(four().map(() => '0'));
    // Uses the same nonce, because the refused request did not use it up.
    expect((await client.callBare('orders/create', request, options)).code).toBe('0');
    expect(await orders(request.externalOrderNo)).toBe(1);
    await node.close();
  });

  it('503001: before signature, token or body are checked; other paths work as usual', async () => {
    const { node, empty } = await fullNode(four());
    const client = node.client(channel);
    for (const wrong of [{ signRaw: 'something else' }, { token: 'none' }, { raw: '{' }]) {
      expectRefused(await client.callBare('orders/create', {}, wrong));
    }
    const to = (method: string, path: string) => send(node.baseUrl, method, path, {}, Buffer.alloc(0));
    expect((await to('POST', '/openapi/v1/nothing')).code).toBe('404001');
    expect((await to('GET', '/openapi/v1/orders/create')).code).toBe('405001');
    // Another channel is still served, because it has its own part of the node.
    expect((await node.client(other).call('orders/create', collectRequest(other))).code).toBe('0');
    expect((await to('GET', '/healthz')).status).toBe(200);
    expect((await to('GET', '/readyz')).status).toBe(200);
    const { text } = await to('GET', '/metrics');
    expect(text).toContain(`perennial_requests_inside{state="inside"} ${MOST}`);
    expect(text).toContain(`perennial_requests_inside{state="most"} ${MOST}`);
    expect(text).toMatch(/perennial_http_requests_total\{endpoint="[^"]*create",status="503",code="503001"\} 3/);
    await empty();
    await node.close();
  });

  it('503001: the connection is kept, and the next request on it works', async () => {
    const { node, empty } = await fullNode(four());
    const raw = rawConnection(node.baseUrl);
    const body = JSON.stringify({ grantType: 'client_credentials', appId: channel.credentials.appId });
    const headers = () => ({
      ...channel.signedHeaders('auth/token', Buffer.from(body), {}),
      'Content-Length': String(Buffer.byteLength(body)),
    });
    const ask = () => raw.write(requestBytes('/openapi/v1/auth/token', headers(), body));
    ask();
    ask();
    expect((await raw.replies(2)).map(({ code }) => code)).toEqual(['503001', '503001']);
    await empty();
    ask();
    expect((await raw.replies(3))[2]?.code).toBe('0');
    raw.close();
    await node.close();
  });

  it('503 on the redemption page, with a message for the user', async () => {
    const { node, empty } = await fullNode([channel, other, await anotherChannel(service)], 1);
    const { redeemUrl } = (await channel.call('orders/create', collectRequest(channel))).data;
    const { pathname, search } = new URL(redeemUrl);
    const open = () => send(node.baseUrl, 'GET', pathname + search, {}, Buffer.alloc(0));
    const refused = await open();
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
    expect(refused.headers['content-type']).toMatch(/^text\/html/);
    await empty();
    expect((await open()).status).toBe(200);
    await node.close();
  });
});

describe('a request that waits in the node', () => {
  /** Locks the rate limits, so that further requests wait in admission. */
  const holdRates = (tx: Queryable) => tx.query('select from rate_limits for update');

  async function whileHeld(node: Node, work: () => Promise<void>): Promise<void> {
    // Two admission statements are in flight, both waiting for the lock. Further requests wait in the node.
    const before: Promise<Reply>[] = [];
    await service.fresh.database.transaction(async (tx) => {
      await holdRates(tx);
      for (let n = 1; n <= 2; n += 1) {
        before.push(node.client(channel).callBare('auth/token', tokenRequest(channel)));
        await until('a statement that waits', async () => (await waitingStatements()) === n);
      }
      await work();
    });
    expect((await Promise.all(before)).map(({ code }) => code)).toEqual(['0', '0']);
  }

  const tokenRequest = ({ credentials }: ChannelClient) => ({
    grantType: 'client_credentials',
    appId: credentials.appId,
  });
  /**
   * The time that a request may wait before it is refused. It is long enough that a request that begins immediately is
   * never refused.
   */
  const IMPATIENT = { testLimits: { load: { patienceMs: 2_000 } } };
  const waitingStatements = () => lockWaits(service.fresh.database, 'update rate_limits');

  it('503001: if it waits longer than its caller; nothing is stored', async () => {
    const node = await anotherNode(service, IMPATIENT);
    const token = await channel.getToken();
    const request = collectRequest(channel);
    await whileHeld(node, async () => {
      expectRefused(await node.client(channel).callBare('orders/create', request, { token }));
    });
    expect(await orders(request.externalOrderNo)).toBe(0);
    await node.close();
  });

  it.each([
    ['mode B', collectRequest],
    ['mode A', sharedRequest],
  ])('a caller that hangs up leaves no order: %s', async (_mode, made) => {
    const node = await anotherNode(service);
    const request = made(channel) as { externalOrderNo: string };
    const token = await channel.getToken();
    const body = JSON.stringify(request);
    const raw = rawConnection(node.baseUrl);
    const metric = async () => {
      const { text } = await send(node.baseUrl, 'GET', '/metrics', {}, Buffer.alloc(0));
      return Number(/perennial_requests_inside\{state="inside"\} (\d+)/.exec(text)?.[1]);
    };
    await whileHeld(node, async () => {
      const headers = channel.signedHeaders('orders/create', Buffer.from(body), { token });
      const length = { 'Content-Length': String(Buffer.byteLength(body)) };
      raw.write(requestBytes('/openapi/v1/orders/create', { ...headers, ...length }, body));
      await until('the request is inside', async () => (await metric()) === 3);
      const open = await node.connections();
      raw.close();
      await until('the connection is gone', async () => (await node.connections()) < open);
    });
    await until('nothing inside', async () => (await metric()) === 0);
    expect(await orders(request.externalOrderNo)).toBe(0);
    await node.close();
  });

  it('a begun request is finished although it takes longer than its caller waits', async () => {
    const between = gate();
    let isOver = false;
    const twoSteps = testRoute('test/two-steps', async ({ database, answer }) => {
      await database.transaction((tx) => tx.query('select 1'));
      await between.stand();
      await database.query('select 2');
      isOver = true;
      return answer(DONE);
    });
    const node = await anotherNode(service, { moreRoutes: [twoSteps], ...IMPATIENT });
    const token = await channel.getToken();
    const reply = node.client(channel).callBare('test/two-steps', BODY, { token });
    await between.reached;
    // Waits until a later request was refused for waiting too long. By then the first request has taken that long as
    // well.
    await whileHeld(node, async () => {
      expectRefused(await node.client(channel).callBare('orders/create', collectRequest(channel), { token }));
    });
    between.open();
    expect((await reply).code).toBe('0');
    expect(isOver).toBe(true);
    await node.close();
  });
});
