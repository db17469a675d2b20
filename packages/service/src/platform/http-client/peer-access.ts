import { statSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import type { Logger } from 'pino';
import { type PeerSettings, type ProxySettings, readPeerFiles } from '../settings/peers.js';
import { isThisMachine } from '../this-machine.js';
import { type Connection, openConnection, type Target } from './connection.js';
import type { Deadline } from './deadline.js';
import { BadAnswer } from './incoming-bytes.js';
import { trustedCertificates } from './trusted-certificates.js';

/** How bridges and suppliers are reached: with which certificates, and through which proxy. */
export interface PeerAccess {
  readonly contexts: () => Contexts;
  readonly proxy: ProxySettings | undefined;
}

interface Contexts {
  readonly peer: tls.SecureContext;
  /** The context for the proxy. It has no client certificate, because that is only for bridges and suppliers. */
  readonly proxy: tls.SecureContext;
}

/** Throws SettingsError if a file cannot be used. Later, a changed file that cannot be used is logged and ignored. */
export function createPeerAccess(settings: PeerSettings = {}, log?: Logger): PeerAccess {
  const { certFile, keyFile, caFile, proxy } = settings;
  const files = [certFile, keyFile, caFile].filter((file) => file !== undefined);
  if (files.length === 0) return { ...DIRECT, proxy };
  const readTimes = () => files.map((file) => statSync(file).mtimeMs).join();
  let readAt = readTimes();
  let current = createContexts(settings);
  return {
    proxy,
    /** Reads the files again if one has changed, so that renewed certificates need no restart. */
    contexts() {
      try {
        const changedAt = readTimes();
        if (changedAt !== readAt) {
          current = createContexts(settings);
          readAt = changedAt;
        }
      } catch (err) {
        log?.error({ err, cause: 'renewed files of PEER_TLS_' }, 'renewed certificates are refused; the old ones stay');
      }
      return current;
    },
  };
}

function createContexts(settings: PeerSettings): Contexts {
  const { ca, ...own } = readPeerFiles(settings);
  const trusted = ca === undefined ? {} : { ca };
  return { peer: tls.createSecureContext({ ...trusted, ...own }), proxy: tls.createSecureContext(trusted) };
}

/** No client certificate, Node's authorities, no proxy. */
export const DIRECT: PeerAccess = {
  contexts: () => ({ peer: trustedCertificates(undefined), proxy: trustedCertificates(undefined) }),
  proxy: undefined,
};

/** Connects to a bridge or supplier before the deadline. */
export function connectToPeer(url: URL, peers: PeerAccess, deadline: Deadline): Promise<Connection> {
  const { target, openTunnel } = findRoute(url, peers);
  if (!openTunnel) return openConnection(target, deadline);
  return openTunnel(deadline).then((tunnel) => openConnection({ ...target, tunnel }, deadline));
}

interface Route {
  readonly target: Target;
  /** Set if a proxy must connect to the target. */
  readonly openTunnel?: (deadline: Deadline) => Promise<net.Socket>;
}

/** This machine is never reached through the proxy, because the proxy would connect to the machine on which it runs. */
export function findRoute(url: URL, { contexts, proxy }: PeerAccess): Route {
  const host = hostOf(url);
  const { peer: context, proxy: proxyContext } = contexts();
  const security = url.protocol === 'https:' ? { security: { context, host } } : {};
  const target = { address: host, port: portOf(url), ...security };
  if (!proxy || isThisMachine(host)) return { target };
  const authority = `${url.hostname}:${target.port}`;
  return { target, openTunnel: (deadline) => askProxy(proxy, proxyContext, authority, deadline) };
}

/** Asks the proxy to connect to `authority`, whose name the proxy resolves. */
function askProxy(
  { url, authorization }: ProxySettings,
  secureContext: tls.SecureContext,
  authority: string,
  deadline: Deadline,
): Promise<net.Socket> {
  const host = hostOf(url);
  const options: https.RequestOptions & { secureContext: tls.SecureContext } = {
    method: 'CONNECT',
    host,
    port: portOf(url),
    path: authority,
    agent: false,
    headers: { host: authority, ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }) },
    secureContext,
    // Set explicitly, because Node would take the name from the header `host`, which does not name the proxy.
    servername: net.isIP(host) === 0 ? host : '',
    // Set explicitly, so that no environment variable can turn the check of certificates off.
    rejectUnauthorized: true,
  };
  return deadline.runStep((resolve, reject) => {
    const request = url.protocol === 'https:' ? https.request(options) : http.request(options);
    const fail = (why: unknown) => reject(new BadAnswer(`the proxy does not connect: ${why}`));
    request.once('connect', ({ statusCode }, socket, early) => {
      socket.on('error', () => undefined);
      if (statusCode === 200 && early.length === 0) return resolve(socket);
      fail(`HTTP status ${statusCode}`);
      socket.destroy();
    });
    request.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.name));
    request.end();
    return () => request.destroy();
  });
}

const hostOf = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, '');
const portOf = ({ port, protocol }: URL) => Number(port || (protocol === 'https:' ? 443 : 80));
