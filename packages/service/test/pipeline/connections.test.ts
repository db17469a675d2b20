import { afterEach, describe, expect, it } from 'vitest';
import { anotherNodeOfFile, serviceOfFile } from '../orders/stage-of-file.js';
import { demoChannel } from '../support/demo.js';
import { expectEnvelope } from '../support/envelope.js';
import { until } from '../support/processes.js';
import { rawConnection, requestBytes } from '../support/raw-http.js';

const MOST = 2;
const IN_ALL = 4;

const { service, channel } = serviceOfFile({}, demoChannel);
const node = anotherNodeOfFile(service, {
  testLimits: { httpLimits: { connections: MOST, connectionsInAll: IN_ALL } },
});
const opened: ReturnType<typeof rawConnection>[] = [];
afterEach(async () => {
  for (const raw of opened.splice(0)) raw.close();
  await until('all are closed', async () => (await node.connections()) === 0);
});

/** Opens a connection, and waits until the node has accepted it. */
async function open() {
  const before = await node.connections();
  const raw = rawConnection(node.baseUrl);
  opened.push(raw);
  await until('one more connection', async () => (await node.connections()) === before + 1);
  return raw;
}

const BODY = () => JSON.stringify({ grantType: 'client_credentials', appId: channel.credentials.appId });
function tokenRequest(body = BODY(), declared = Buffer.byteLength(body)) {
  const headers = channel.signedHeaders('auth/token', Buffer.from(body), {});
  return requestBytes('/openapi/v1/auth/token', { ...headers, 'Content-Length': String(declared) }, body);
}
const get = (path: string) => requestBytes(path, {}, '', 'GET');

describe('a node at its connection limit', () => {
  it('503001: an API request on a spare connection is refused, and the connection is closed', async () => {
    const [first] = [await open(), await open()];
    const more = await open();
    more.write(tokenRequest());
    const [refused] = await more.untilClosed();
    expect([refused?.status, refused?.code, refused?.headers['retry-after']]).toEqual([503, '503001', '1']);
    expect(refused?.headers['connection']).toBe('close');
    expectEnvelope(refused?.envelope, '503001');
    first.write(tokenRequest());
    expect((await first.replies(1))[0]?.code).toBe('0');
  });

  it('503001: before the body has arrived', async () => {
    await Promise.all([await open(), await open()]);
    const more = await open();
    more.write(tokenRequest('{', 1_000));
    expect((await more.replies(1))[0]?.code).toBe('503001');
    // The caller can finish sending. It then reads the end of the connection instead of a reset.
    more.write(' '.repeat(999));
    expect(await more.untilClosed()).toHaveLength(1);
  });

  it('health checks on a spare connection are answered, and the connection is closed', async () => {
    await Promise.all([await open(), await open()]);
    const more = await open();
    more.write(get('/readyz'));
    const [reply] = await more.untilClosed();
    expect([reply?.status, reply?.headers['connection']]).toEqual([200, 'close']);
  });

  it('a spare connection is served normally once another has closed', async () => {
    const [first] = [await open(), await open()];
    const more = await open();
    first.close();
    await until('the first is closed', async () => (await node.connections()) === MOST);
    more.write(tokenRequest());
    more.write(tokenRequest());
    expect((await more.replies(2)).map(({ code }) => code)).toEqual(['0', '0']);
  });

  it('idle connections are kept for a shorter time while more than half are open', async () => {
    const first = await open();
    first.write(get('/healthz'));
    expect((await first.replies(1))[0]?.headers['keep-alive']).toBe('timeout=75');
    await open();
    first.write(get('/healthz'));
    expect((await first.replies(2))[1]?.headers['keep-alive']).toBe('timeout=5');
  });

  it('beyond twice the limit, a connection is closed unread and counted', async () => {
    for (let n = 0; n < IN_ALL; n += 1) await open();
    const dropped = rawConnection(node.baseUrl);
    dropped.write(tokenRequest());
    expect(await dropped.untilClosed().catch(() => [])).toEqual([]);
    const [raw] = opened;
    raw?.write(get('/metrics'));
    await until('the metrics are there', () => raw?.text().includes('perennial_connections_dropped_total 1') === true);
    expect(raw?.text()).toContain(`perennial_connections{state="open"} ${IN_ALL}`);
    expect(raw?.text()).toContain(`perennial_connections{state="most"} ${MOST}`);
  });
});
