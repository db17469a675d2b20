import { once } from 'node:events';
import { rm, utimes, writeFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import path from 'node:path';
import tls from 'node:tls';
import { createSignedServer, listen as listenAsBridge, type ServerCertificates } from '@perennial/bridge-kit/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSupplier } from '../../src/fulfilment/supplier.js';
import type { BridgeOptions } from '../../src/gateways/bridge/bridge-gateway.js';
import { authorizePaymentChannel } from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { createPaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import { systemClock } from '../../src/platform/clock.js';
import { createPeerAccess } from '../../src/platform/http-client/peer-access.js';
import { readPeers } from '../../src/platform/settings/peers.js';
import { askForCode } from '../agreements/bridged.js';
import { perennial } from '../cli/perennial.js';
import { debitOf, gatewayTo, KEY, temporaryFolder } from '../institution/support.js';
import { capturedLog } from '../support/captured-log.js';
import { demoChannel, unique } from '../support/demo.js';
import { freePort } from '../support/free-port.js';
import { listen } from '../support/listen.js';
import { testService } from '../support/service.js';
import { type Certificate, newAuthority } from '../webhooks/certificates.js';

const NAME = 'bridge.test';
const ours = newAuthority('Ours');
const others = newAuthority('Others');
const server = ours.issue({ for: [NAME, '127.0.0.1'] });
const client = ours.issue({ for: ['service'] });
const unknown = { kind: 'unknown' };

const OPERATIONS = ['handshake', 'debit', 'debit-query', 'fulfil', 'bind-code'] as const;
const ANSWERS = {
  handshake: { currency: 'CNY' },
  debit: { attemptNo: '1', status: 'SUCCESS', amountCent: 1990, paidAt: 1_700_000_000_000, institutionRef: 'R1' },
  'debit-query': { status: 'NOT_FOUND' },
  fulfil: { claimNo: 'C1', status: 'FULFILLED', code: 'ABC' },
  'bind-code': { status: 'SENT' },
};

/** Starts a bridge of the kit that speaks TLS. `calls` lists the operations that it was asked for. */
async function startBridge(
  certificates: Partial<ServerCertificates> = {},
  { key = KEY, at = 0, clock = systemClock } = {},
) {
  const calls: string[] = [];
  const app = createSignedServer({
    key,
    clock,
    operations: OPERATIONS,
    certificates: { ...server, ...certificates },
    onFault: (error) => {
      throw error;
    },
    async handle({ operation, fields: { attemptNo } }) {
      calls.push(operation);
      return { status: 200, text: JSON.stringify({ attemptNo, ...ANSWERS[operation] }) };
    },
  });
  onTestFinished(() => app.close());
  const url = await listenAsBridge(app, '127.0.0.1', at);
  return { url, port: Number(new URL(url).port), calls };
}

async function writePem(texts: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const folder = await temporaryFolder();
  const files = Object.entries(texts).map(([name, text]) => [name, path.join(folder, name), text] as const);
  for (const [, file, text] of files) await writeFile(file, text);
  return Object.fromEntries(files.map(([name, file]) => [name, file]));
}

/** Writes the files of the settings, and returns the settings. */
async function settingsOf(certificate: Certificate | undefined, ca = ours.cert, more: Record<string, string> = {}) {
  const { cert = '', key = '', authority = '' } = await writePem({ ...certificate, authority: ca });
  return { PEER_TLS_CERT_FILE: cert, PEER_TLS_KEY_FILE: key, PEER_TLS_CA_FILE: authority, ...more };
}

async function accessOf(...settings: Parameters<typeof settingsOf>) {
  return createPeerAccess(readPeers(await settingsOf(...settings)));
}

const debitAt = (url: string, options: Partial<BridgeOptions>) => gatewayTo(url, options).debit(debitOf('1'));

describe('a bridge that requires client certificates', () => {
  it.each([
    ['without a certificate', undefined, 'unknown'],
    ['with the certificate of another authority', others.issue({ for: ['service'] }), 'unknown'],
    ['with an expired certificate', ours.issue({ for: ['service'], validDays: [-10, -1] }), 'unknown'],
    ['with its certificate', client, 'success'],
  ])('a service %s: %s', async (_what, certificate, kind) => {
    const bridge = await startBridge({ clientCa: ours.cert });
    expect(await debitAt(bridge.url, { peers: await accessOf(certificate) })).toMatchObject({ kind });
    expect(bridge.calls).toEqual(kind === 'success' ? ['handshake', 'debit'] : []);
  });

  it('serves a node that has the settings, for payments and claims', async () => {
    const settings = await settingsOf(client);
    const service = await testService({ peers: readPeers(settings) });
    onTestFinished(() => service.close());
    const { clock } = service;
    const channel = await demoChannel(service);
    const port = await freePort();
    const { gatewayKey } = await createPaymentChannel(service.operator, {
      code: 'BRIDGE',
      gateway: 'bridge',
      gatewayUrl: `https://127.0.0.1:${port}`,
      displayName: 'Bank',
      supportedBanks: ['*'],
    });
    await authorizePaymentChannel(service.operator, { appId: channel.credentials.appId, code: 'BRIDGE' });
    const key = Buffer.from(gatewayKey ?? '', 'base64');
    const bridge = await startBridge({ clientCa: ours.cert }, { key, at: port, clock });
    const bound = await askForCode(channel, {
      channelUserId: unique('user'),
      bankCardNo: '6222020000000000001',
      paymentChannelCode: 'BRIDGE',
    });
    expect(bound.code).toBe('0');

    const supplier = createSupplier({ url: bridge.url, key, clock, peers: await accessOf(client) });
    onTestFinished(() => supplier.close());
    const claim = { claimNo: 'C1', benefitCode: 'VIP', faceValueCent: 1, orderNo: 1, cycleNo: 1 };
    expect(await supplier.fulfil(claim)).toEqual({ kind: 'fulfilled', code: 'ABC' });
    expect(bridge.calls).toEqual(['handshake', 'bind-code', 'fulfil']);
  });

  it('is checked by check-bridge with the same settings, also through a proxy', async () => {
    const bridge = await startBridge({ clientCa: ours.cert });
    const proxy = await startProxy(leadTo(bridge.port));
    const check = async (url: string, settings: Record<string, string>) =>
      (await perennial(['check-bridge', url], { BRIDGE_KEY: KEY.toString('base64'), ...settings })).stdout;
    expect(await check(bridge.url, await settingsOf(undefined))).toContain(
      'HTTP 403 "a client certificate is required"',
    );
    expect(bridge.calls).toEqual([]);
    const settings = await settingsOf(client, ours.cert, { PEER_PROXY_URL: proxy.url });
    expect(await check(bridge.url, settings)).toContain('ok    answer-signed');
    expect(proxy.asked).toEqual([]);
    expect(await check(`https://${NAME}`, settings)).toContain('ok    answer-signed');
    expect(new Set(proxy.asked)).toEqual(new Set([`${NAME}:443`]));
  });
});

describe('the certificate of a bridge', () => {
  it.each([
    ['of the authority in PEER_TLS_CA_FILE, for its name', ours, '127.0.0.1', 'success'],
    ['for another name', ours, 'localhost', 'unknown'],
    ['of another authority', others, '127.0.0.1', 'unknown'],
  ])('%s: %s', async (_what, authority, host, kind) => {
    const bridge = await startBridge(authority.issue({ for: ['127.0.0.1'] }));
    const url = `https://${host}:${bridge.port}`;
    expect(await debitAt(url, { peers: await accessOf(undefined) })).toMatchObject({ kind });
    expect(bridge.calls).toEqual(kind === 'success' ? ['handshake', 'debit'] : []);
  });

  it('is not trusted without PEER_TLS_CA_FILE if only a private authority knows it', async () => {
    const bridge = await startBridge();
    expect(await debitAt(bridge.url, {})).toEqual(unknown);
    expect(bridge.calls).toEqual([]);
  });
});

describe('renewed files', () => {
  it('are used for the next connection; unusable ones are logged without their content', async () => {
    const { log, text, lines } = capturedLog();
    const bridge = await startBridge({ clientCa: ours.cert });
    const settings = readPeers(await settingsOf(others.issue({ for: ['service'] })));
    const { certFile = '', keyFile = '' } = settings;
    const gateway = gatewayTo(bridge.url, { peers: createPeerAccess(settings, log) });
    expect(await gateway.debit(debitOf('1'))).toEqual(unknown);

    let seconds = 1_700_000_000;
    const renew = async (file: string, content: string) => {
      await writeFile(file, content);
      seconds += 1;
      await utimes(file, seconds, seconds);
    };
    await renew(certFile, client.cert);
    expect(await gateway.debit(debitOf('1'))).toEqual(unknown);
    expect(lines()).toMatchObject([{ msg: 'renewed certificates are refused; the old ones stay' }]);
    expect(text()).toContain('is not the key of the first certificate');
    await renew(keyFile, client.key);
    expect(await gateway.debit(debitOf('1'))).toMatchObject({ kind: 'success' });
    expect(text()).not.toContain(client.key.split('\n')[1]);
    await rm(keyFile);
    expect(await gateway.debit(debitOf('1'))).toMatchObject({ kind: 'success' });
  });
});

type OnConnect = (authority: string, socket: net.Socket) => void;

/** Starts a forward proxy. `asked` lists the names that it was asked to connect to, `users` the credentials. */
async function startProxy(onConnect: OnConnect, certificate?: Certificate) {
  const asked: string[] = [];
  const users: (string | undefined)[] = [];
  const proxy: http.Server = certificate ? https.createServer(certificate) : http.createServer();
  const sockets = new Set<net.Socket>();
  proxy.on('connect', ({ url = '', headers }, socket: net.Socket) => {
    sockets.add(socket.on('error', () => undefined));
    asked.push(url);
    users.push(headers['proxy-authorization']);
    onConnect(url, socket);
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const port = await listen(proxy);
  return { url: `${certificate ? 'https' : 'http'}://ann:p%40ss-w0rd@127.0.0.1:${port}`, asked, users };
}

function join(socket: net.Socket, to: net.Socket): void {
  to.on('error', () => socket.destroy());
  socket.on('error', () => to.destroy());
  to.pipe(socket);
  socket.pipe(to);
}

/** Connects every client to this port, whatever name it asked for. */
const leadTo =
  (port: number): OnConnect =>
  (_authority, socket) => {
    socket.write(OK);
    join(socket, net.connect(port, '127.0.0.1'));
  };

const OK = 'HTTP/1.1 200 Connection established\r\n\r\n';
const SECRETS = ['p@ss-w0rd', 'p%40ss-w0rd', Buffer.from('ann:p@ss-w0rd').toString('base64')];
const HURRY = { deadlineMs: { debit: 300, other: 300 } };

describe('a proxy', () => {
  it.each([
    ['http', undefined],
    ['https', server],
  ])('over %s resolves the name and connects; the bridge still requires its client certificate', async (_what, own) => {
    const bridge = await startBridge({ clientCa: ours.cert });
    const presented: boolean[] = [];
    const proxy = await startProxy((authority, socket) => {
      if (socket instanceof tls.TLSSocket) presented.push(socket.getPeerX509Certificate() !== undefined);
      leadTo(bridge.port)(authority, socket);
    }, own);
    const peers = await accessOf(client, ours.cert, { PEER_PROXY_URL: proxy.url });
    const gateway = gatewayTo(`https://${NAME}:8443/`, { peers });
    expect(await gateway.debit(debitOf('1'))).toMatchObject({ kind: 'success' });
    expect(await gateway.debit(debitOf('1'))).toMatchObject({ kind: 'success' });
    expect(bridge.calls).toEqual(['handshake', 'debit', 'debit']);
    expect(proxy.asked).toEqual([`${NAME}:8443`]);
    expect(proxy.users).toEqual([`Basic ${SECRETS[2]}`]);
    expect(presented).toEqual(own ? [false] : []);
  });

  it('also connects to a bridge over plain http, but never to this machine', async () => {
    const bridge = await startBridge();
    const plain = http.createServer((request, response) => void request.resume().on('end', () => response.end()));
    const plainPort = await listen(plain);
    const heard = once(plain, 'request');
    const proxy = await startProxy(leadTo(plainPort));
    const peers = await accessOf(undefined, ours.cert, { PEER_PROXY_URL: proxy.url });
    expect(await debitAt(`http://${NAME}/`, { peers })).toEqual(unknown);
    const [{ url }] = await heard;
    expect([url, proxy.asked]).toEqual(['/handshake', [`${NAME}:80`]]);
    expect(await debitAt(bridge.url, { peers })).toMatchObject({ kind: 'success' });
    expect(proxy.asked).toHaveLength(1);
  });

  const answer =
    (text: string): OnConnect =>
    (_authority, socket) =>
      void socket.end(text);
  it.each<[string, OnConnect, string]>([
    ['asks for another password', answer('HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nno'), 'HTTP status 407'],
    ['does not reach the bridge', answer('HTTP/1.1 502 Bad Gateway\r\n\r\n'), 'HTTP status 502'],
    // A bridge that does not know the handshake answers 404: a 404 from the proxy must not count as the bridge's
    // answer.
    ['does not know the bridge', answer('HTTP/1.1 404 Not Found\r\n\r\n'), 'HTTP status 404'],
    ['answers in the place of the bridge', answer(`${OK}HTTP/1.1 404 Not Found\r\n\r\n`), 'HTTP status 200'],
    ['does not speak HTTP', answer('SSH-2.0-OpenSSH\r\n'), 'HPE_INVALID_CONSTANT'],
    ['closes the connection', (_authority, socket) => void socket.destroy(), 'ECONNRESET'],
    ['hangs', () => undefined, 'the deadline has passed'],
    ['hangs once connected', (_authority, socket) => void socket.write(OK), 'the deadline has passed'],
  ])('that %s leaves a debit unknown, not declined', async (_what, onConnect, why) => {
    const { log, text, lines } = capturedLog();
    const proxy = await startProxy(onConnect);
    const peers = await accessOf(client, ours.cert, { PEER_PROXY_URL: proxy.url });
    const gateway = gatewayTo(`https://${NAME}/`, { peers, log, ...HURRY });
    expect(await gateway.debit(debitOf('1'))).toEqual(unknown);
    expect(await gateway.queryDebit(debitOf('1'))).toEqual(unknown);
    expect(lines()[0]).toMatchObject({ operation: 'handshake', why: expect.stringContaining(why) });
    for (const secret of SECRETS) expect(text()).not.toContain(secret);
  });

  it('that is down leaves a debit unknown; the password is not logged', async () => {
    const { log, text, lines } = capturedLog();
    const url = `http://ann:p%40ss-w0rd@127.0.0.1:${await freePort()}`;
    const peers = await accessOf(undefined, ours.cert, { PEER_PROXY_URL: url });
    expect(await debitAt(`https://${NAME}/`, { peers, log })).toEqual(unknown);
    expect(lines()).toMatchObject([{ why: 'the proxy does not connect: ECONNREFUSED' }]);
    for (const secret of SECRETS) expect(text()).not.toContain(secret);
  });

  it.each([
    ['pretends to be the bridge', others.issue({ for: [NAME] })],
    ['leads to another server of the right authority', ours.issue({ for: ['other.test'] })],
  ])('that %s gets no request', async (_what, certificate) => {
    const requests: unknown[] = [];
    const fake = https.createServer(certificate, (request) => requests.push(request.url));
    const port = await listen(fake);
    const proxy = await startProxy(leadTo(port));
    const peers = await accessOf(client, ours.cert, { PEER_PROXY_URL: proxy.url });
    expect(await debitAt(`https://${NAME}/`, { peers })).toEqual(unknown);
    expect(requests).toEqual([]);
  });

  it('with the certificate of another authority is not asked', async () => {
    const proxy = await startProxy(() => undefined, others.issue({ for: ['127.0.0.1'] }));
    const peers = await accessOf(undefined, ours.cert, { PEER_PROXY_URL: proxy.url });
    expect(await debitAt(`https://${NAME}/`, { peers })).toEqual(unknown);
    expect(proxy.users).toEqual([]);
  });
});
