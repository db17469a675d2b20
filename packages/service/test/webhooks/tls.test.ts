import net from 'node:net';
import type tls from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPushClient, type PushClient } from '../../src/delivery/transport/push-client.js';
import { type Certificate, newAuthority, selfSigned } from './certificates.js';
import { type TestNetwork, testNetwork } from './network.js';
import { signedPush, startReceiver, type TestReceiver } from './receiver.js';

const SECRET = Buffer.alloc(32, 7).toString('base64');
const ADDRESS = '203.0.113.7';
const authority = newAuthority();

let network: TestNetwork;
let receiver: TestReceiver | undefined;
let sender: PushClient;

beforeEach(() => {
  network = testNetwork();
  sender = createPushClient({ allowLocalhost: false, ca: authority.cert, resolveName: async () => [ADDRESS] });
});
afterEach(async () => {
  sender.close();
  await receiver?.close();
  receiver = undefined;
  network.restore();
});

async function receive(certificate: Certificate): Promise<TestReceiver> {
  receiver = await startReceiver({ secrets: { app: SECRET }, tls: certificate });
  network.route(ADDRESS, receiver.port);
  return receiver;
}

describe('a receiver with a good certificate', () => {
  const NAME = 'hooks.partner.example';
  it.each([
    ['for its name', [NAME], `${NAME}/`, `${ADDRESS}:443`, NAME],
    ['for all names of its domain', ['*.partner.example'], `${NAME}/`, `${ADDRESS}:443`, NAME],
    ['for several names', ['other.partner.example', NAME], `${NAME}/`, `${ADDRESS}:443`, NAME],
    ['for its name, with a dot at the end', [NAME], `${NAME}.:8443/`, `${ADDRESS}:8443`, NAME],
    ['for its address, without a name', [ADDRESS], `${ADDRESS}/`, `${ADDRESS}:443`, false],
  ])('%s gets its events', async (_what, names, at, dialled, servername) => {
    const { pushes, server, forged } = await receive(authority.issue({ for: names }));
    const asked: unknown[] = [];
    server.on('secureConnection', (socket: tls.TLSSocket) => asked.push(socket.servername, socket.alpnProtocol));
    const result = await sender.push(`https://${at}events`, () => signedPush('app', SECRET));
    expect(result).toMatchObject({ outcome: 'ACCEPTED', httpStatus: 200 });
    expect(network.dialled).toEqual([dialled]);
    expect(asked).toEqual([servername, 'http/1.1']);
    expect(pushes).toMatchObject([{ eventId: '4711', host: at.slice(0, -1), path: '/events' }]);
    expect(forged).toEqual([]);
  });
});

const HOOKS = { for: ['hooks.partner.example'] };
const BAD: readonly [what: string, certificate: Certificate, reason: string, url?: string][] = [
  ['an expired one', authority.issue({ ...HOOKS, validDays: [-10, -1] }), 'CERT_HAS_EXPIRED'],
  ['one that is not yet valid', authority.issue({ ...HOOKS, validDays: [1, 10] }), 'CERT_NOT_YET_VALID'],
  ['a self-signed one', selfSigned(HOOKS), 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['one of an unknown authority', newAuthority('Nobody').issue(HOOKS), 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ['one of an authority that only has a known name', newAuthority().issue(HOOKS), 'CERT_SIGNATURE_FAILURE'],
  ['one for another name', authority.issue({ for: ['other.partner.example'] }), 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['one for the parent name', authority.issue({ for: ['partner.example'] }), 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['one for child names', authority.issue({ for: ['*.hooks.partner.example'] }), 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['one for its address, but not its name', authority.issue({ for: [ADDRESS] }), 'ERR_TLS_CERT_ALTNAME_INVALID'],
  [
    'one for its name, where only the address is known',
    authority.issue(HOOKS),
    'ERR_TLS_CERT_ALTNAME_INVALID',
    `https://${ADDRESS}/events`,
  ],
  [
    'one for another address',
    authority.issue({ for: ['203.0.113.8'] }),
    'ERR_TLS_CERT_ALTNAME_INVALID',
    `https://${ADDRESS}/events`,
  ],
];

describe('a receiver with a bad certificate', () => {
  it.each(BAD)('gets nothing: %s', async (_what, certificate, reason, url = 'https://hooks.partner.example/events') => {
    const { pushes, forged } = await receive(certificate);
    const result = await sender.push(url, () => signedPush('app', SECRET));
    expect(result).toEqual({ outcome: 'UNREACHABLE', httpStatus: null, answer: reason });
    expect([pushes, forged]).toEqual([[], []]);
    expect(network.sockets.every(({ destroyed }) => destroyed)).toBe(true);
  });

  it('gets nothing even if the environment disables certificate checks', async () => {
    const { pushes } = await receive(selfSigned(HOOKS));
    vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    const result = await sender.push('https://hooks.partner.example/events', () => signedPush('app', SECRET));
    vi.unstubAllEnvs();
    vi.mocked(process.emitWarning).mockRestore();
    expect(result).toMatchObject({ outcome: 'UNREACHABLE', answer: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    expect(pushes).toEqual([]);
  });

  it('is refused on this machine too', async () => {
    const { url, pushes } = await receive(selfSigned({ for: ['localhost'] }));
    const local = createPushClient({ allowLocalhost: true, ca: authority.cert });
    expect(await local.push(url, () => signedPush('app', SECRET))).toMatchObject({ outcome: 'UNREACHABLE' });
    expect(pushes).toEqual([]);
  });
});

describe('a port without TLS', () => {
  async function listen(onConnection: (socket: net.Socket) => void): Promise<net.Server> {
    const server = net.createServer(onConnection);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    network.route(ADDRESS, (server.address() as net.AddressInfo).port);
    return server;
  }

  it('receives nothing readable', async () => {
    const heard: Buffer[] = [];
    const server = await listen((socket) => {
      socket.on('error', () => undefined).on('data', (bytes) => heard.push(bytes));
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"code":"0"}');
    });
    const result = await sender.push('https://hooks.partner.example/events', () => signedPush('app', SECRET));
    expect(result.outcome).toBe('UNREACHABLE');
    expect(Buffer.concat(heard).includes('4711')).toBe(false);
    await new Promise((resolve) => server.close(resolve));
  });

  it("has until the push's deadline to answer", async () => {
    const server = await listen((socket) => void socket.resume());
    const hurried = createPushClient({ allowLocalhost: false, deadlineMs: 100, resolveName: async () => [ADDRESS] });
    const result = await hurried.push('https://hooks.partner.example/events', () => signedPush('app', SECRET));
    expect(result).toMatchObject({ outcome: 'TIMEOUT', httpStatus: null });
    // Resolves when no client is connected.
    await new Promise((resolve) => server.close(resolve));
  });
});
