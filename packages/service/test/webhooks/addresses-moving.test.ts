import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createDnsResolver } from '../../src/delivery/transport/addresses.js';
import { createPushClient, type PushClient } from '../../src/delivery/transport/push-client.js';
import { newAuthority } from './certificates.js';
import { type NameAnswer, type NameServer, startNameServer } from './name-server.js';
import { type TestNetwork, testNetwork } from './network.js';
import { signedPush, startReceiver, type TestReceiver } from './receiver.js';

const SECRET = Buffer.alloc(32, 7).toString('base64');
const URL = 'https://hooks.partner.example/events';
const [FIRST, SECOND, THIRD, FOURTH] = ['203.0.113.7', '203.0.113.8', '203.0.113.9', '203.0.113.10'] as const;
const authority = newAuthority();

let network: TestNetwork;
let receiver: TestReceiver;
let sender: PushClient | undefined;
beforeEach(async () => {
  network = testNetwork();
  const tls = authority.issue({ for: ['hooks.partner.example', 'quick.partner.example'] });
  receiver = await startReceiver({ secrets: { app: SECRET }, tls });
  network.route(FIRST, receiver.port);
});
afterEach(async () => {
  vi.useRealTimers();
  sender?.close();
  await receiver.close();
  network.restore();
});

/** Creates a push client whose name lookups return each answer in turn, and then always the last. */
function sending(...turns: readonly (readonly string[])[]) {
  const lookups: string[] = [];
  sender = createPushClient({
    allowLocalhost: false,
    ca: authority.cert,
    resolveName: async (host) => {
      lookups.push(host);
      return turns[Math.min(lookups.length, turns.length) - 1] ?? [];
    },
  });
  return { lookups, push: sender.push };
}

describe('a name that moves', () => {
  it('to an internal address between two connections is refused at the second', async () => {
    const { push } = sending([FIRST], ['127.0.0.1']);
    receiver.answer({ status: 200, headers: { Connection: 'close' } });
    expect(await push(URL, () => signedPush('app', SECRET))).toMatchObject({ outcome: 'ACCEPTED' });
    expect(await push(URL, () => signedPush('app', SECRET))).toMatchObject({ outcome: 'FORBIDDEN' });
    expect(network.dialled).toEqual([`${FIRST}:443`]);
    expect(receiver.pushes).toHaveLength(1);
  });

  it('to an internal address while a connection is kept: that connection stays, and no other is opened', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { push, lookups } = sending([FIRST], ['10.0.0.1']);
    for (let times = 1; times <= 3; times += 1) {
      expect(await push(URL, () => signedPush('app', SECRET))).toMatchObject({ outcome: 'ACCEPTED' });
    }
    expect(lookups).toHaveLength(1);
    receiver.answer('hang');
    const [hanging, refused] = [push(URL, () => signedPush('app', SECRET)), push(URL, () => signedPush('app', SECRET))];
    expect(await refused).toMatchObject({ outcome: 'FORBIDDEN' });
    await receiver.until(4);
    // Closes the receiver while the clock is stopped. If much time had passed since the push was sent, the client would
    // not resend the push.
    await receiver.close();
    expect(await hanging).toMatchObject({ outcome: 'FORBIDDEN' });
    expect(network.dialled).toEqual([`${FIRST}:443`]);
  });

  it('to another public address is followed', async () => {
    const { push } = sending([FIRST], [SECOND]);
    network.route(SECOND, receiver.port);
    receiver.answer({ status: 200, headers: { Connection: 'close' } });
    for (let times = 1; times <= 2; times += 1) await push(URL, () => signedPush('app', SECRET));
    expect(network.dialled).toEqual([`${FIRST}:443`, `${SECOND}:443`]);
  });
});

describe('a name with several addresses', () => {
  it('is reached at the next one where the first refuses', async () => {
    const { push } = sending([SECOND, '2606:4700::1111', FIRST]);
    expect(await push(URL, () => signedPush('app', SECRET))).toMatchObject({ outcome: 'ACCEPTED' });
    expect(network.dialled).toEqual([`${SECOND}:443`, '2606:4700::1111:443', `${FIRST}:443`]);
  });

  it('is reached at the next one if the first does not answer within its share of the time', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    network.route(SECOND, 'silence');
    const { push } = sending([SECOND, FIRST]);
    const result = push(URL, () => signedPush('app', SECRET));
    await vi.advanceTimersByTimeAsync(1_600);
    expect(network.dialled).toEqual([`${SECOND}:443`]);
    await vi.advanceTimersByTimeAsync(100);
    expect(network.dialled).toEqual([`${SECOND}:443`, `${FIRST}:443`]);
    expect(await result).toMatchObject({ outcome: 'ACCEPTED' });
    expect(network.sockets[0]?.destroyed).toBe(true);
  });

  it('is kept at the first one if that answers within its share', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const { push } = sending([FIRST, SECOND]);
    for (let times = 1; times <= 2; times += 1) {
      expect(await push(URL, () => signedPush('app', SECRET))).toMatchObject({ outcome: 'ACCEPTED' });
      await vi.advanceTimersByTimeAsync(3_000);
    }
    expect(network.dialled).toEqual([`${FIRST}:443`]);
  });

  it("has the push's deadline if none of them answers", async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    for (const address of [SECOND, THIRD, FOURTH]) network.route(address, 'silence');
    const { push } = sending([SECOND, THIRD, FOURTH]);
    const result = push(URL, () => signedPush('app', SECRET));
    await vi.advanceTimersByTimeAsync(4_999);
    expect(network.dialled).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(1);
    expect(await result).toMatchObject({ outcome: 'TIMEOUT' });
    expect(network.sockets.every(({ destroyed }) => destroyed)).toBe(true);
  });

  it("where the first does not answer and the others refuse: reports the first one's error", async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    network.route(SECOND, 'silence');
    const { push } = sending([SECOND, THIRD]);
    const result = push(URL, () => signedPush('app', SECRET));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await result).toMatchObject({ outcome: 'UNREACHABLE', answer: 'no connection within 1667 ms' });
  });

  it('is tried at a limited number of addresses', async () => {
    const { push } = sending([SECOND, THIRD, FOURTH, FIRST]);
    expect(await push(URL, () => signedPush('app', SECRET))).toEqual({
      outcome: 'UNREACHABLE',
      httpStatus: null,
      answer: 'EHOSTUNREACH',
    });
    expect(network.dialled).toEqual([SECOND, THIRD, FOURTH].map((address) => `${address}:443`));
  });
});

describe('name servers', () => {
  let names: NameServer | undefined;
  afterEach(() => names?.close());

  async function resolving(answer: (name: string, kind: 4 | 6) => NameAnswer, deadlineMs?: number) {
    names = await startNameServer(answer);
    sender = createPushClient({
      allowLocalhost: false,
      ca: authority.cert,
      resolveName: createDnsResolver([names.server]),
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
    });
    return sender.push;
  }

  it('resolve a name: IPv4 first, then IPv6', async () => {
    names = await startNameServer(() => ({ addresses: ['2606:4700::1111', FIRST, SECOND] }));
    const found = await createDnsResolver([names.server])('hooks.partner.example');
    expect(found).toEqual([FIRST, SECOND, '2606:4700::1111']);
  });

  it('may have addresses of one family only', async () => {
    const push = await resolving(() => ({ addresses: [FIRST] }));
    expect(await push(URL, () => signedPush('app', SECRET))).toMatchObject({ outcome: 'ACCEPTED' });
    await names?.close();
    names = await startNameServer(() => ({ addresses: ['2606:4700::1111'] }));
    expect(await createDnsResolver([names.server])('hooks.partner.example')).toEqual(['2606:4700::1111']);
  });

  it.each([
    ['another name with an internal address', { addresses: ['10.0.0.1'], by: 'db.partner.example' }, 'FORBIDDEN'],
    [
      'another name with only an internal IPv6 address',
      { addresses: [FIRST, 'fd00::1'], by: 'x.example' },
      'FORBIDDEN',
    ],
    ['nothing', { addresses: [] }, 'UNREACHABLE'],
    ['that the name does not exist', 'unknown', 'UNREACHABLE'],
    ['that the server failed', 'fault', 'UNREACHABLE'],
  ] as const)('that answer %s', async (_what, said, outcome) => {
    const push = await resolving(() => said);
    expect(await push(URL, () => signedPush('app', SECRET))).toMatchObject({ outcome, httpStatus: null });
    expect(network.dialled).toEqual([]);
  });

  it("are asked for the exact name, without this machine's search domains and hosts file", async () => {
    const push = await resolving(() => 'unknown');
    await push('https://intranet/', () => signedPush('app', SECRET, '/'));
    await push('https://ip6-localhost/', () => signedPush('app', SECRET, '/'));
    expect(new Set(names?.asked)).toEqual(new Set(['intranet', 'ip6-localhost']));
  });

  it.each([
    [6, FIRST],
    [4, '2606:4700::1111'],
  ])('that do not answer for IPv%i delay a push briefly: the other family is used', async (silent, address) => {
    network.route(address, receiver.port);
    const push = await resolving((_name, kind) => (kind === silent ? 'silence' : { addresses: [address] }));
    expect(await push(URL, () => signedPush('app', SECRET))).toMatchObject({ outcome: 'ACCEPTED' });
    expect(network.dialled).toEqual([`${address}:443`]);
  });

  it('that do not answer for IPv4, and give an internal IPv6 address', async () => {
    const push = await resolving((_name, kind) => (kind === 4 ? 'silence' : { addresses: ['fd00::1'] }));
    expect(await push(URL, () => signedPush('app', SECRET))).toMatchObject({ outcome: 'FORBIDDEN' });
    expect(network.dialled).toEqual([]);
  });

  it('that do not answer make a push time out', async () => {
    const push = await resolving(() => 'silence', 50);
    expect(await push(URL, () => signedPush('app', SECRET))).toMatchObject({ outcome: 'TIMEOUT', httpStatus: null });
  });

  it('that do not answer for one name delay neither others nor this process', async () => {
    const push = await resolving((name) => (name.startsWith('quick') ? { addresses: [FIRST] } : 'silence'), 30_000);
    let ended = 0;
    const stuck = Array.from({ length: 64 }, (_, index) =>
      push(`https://slow-${index}.partner.example/`, () => signedPush('app', SECRET)).then(() => {
        ended += 1;
      }),
    );
    const quick = push('https://quick.partner.example/events', () => signedPush('app', SECRET));
    expect(await quick).toMatchObject({ outcome: 'ACCEPTED' });
    // This read would not finish if the 64 stuck lookups used the operating system's lookup, which occupies the libuv
    // threads that read files.
    await readFile('/dev/null');
    expect(ended).toBe(0);
    await Promise.all(stuck);
  });
});
