import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { createStartingApp } from './http/monitoring.js';
import { systemClock } from './platform/clock.js';
import { PlainError } from './platform/plain-error.js';
import type { Settings } from './platform/settings.js';
import type { Service } from './service.js';

/** Addresses on which the servers of a node listen. */
export interface Listening {
  readonly url: string;
  /** Address of /metrics and /healthz. */
  readonly operations: string;
  /** Address of the console, if it has its own listener. */
  readonly console: string | undefined;
}

export async function listenEverywhere(
  { server, operations, consoleServer }: Pick<Service, 'server' | 'operations' | 'consoleServer'>,
  { host, port, metricsHost, metricsPort, consoleHost, consolePort }: Settings,
): Promise<Listening> {
  const listen = async (app: FastifyInstance, at: { host: string; port: number }, setting: string) => {
    await listenAt(app, at, setting);
    return urlOf(app.server, at.host);
  };
  const url = await listen(server, { host, port }, 'PORT');
  return {
    url,
    operations: operations
      ? await listen(operations, { host: metricsHost, port: metricsPort ?? 0 }, 'METRICS_PORT')
      : url,
    console: consoleServer
      ? await listen(consoleServer, { host: consoleHost, port: consolePort ?? 0 }, 'CONSOLE_PORT')
      : undefined,
  };
}

/** The listener of a node that does not serve yet. */
export interface Starting {
  /**
   * Sets the decision that the node waits for, as /readyz reports it. Undefined means that the node is only starting.
   */
  awaitDecision(what: string | undefined): void;
  close(): Promise<void>;
}

/**
 * Answers /healthz while the node waits for a database or a migration, on the same port as after the start. If the
 * interface has another port, that port refuses connections, so that a proxy chooses another node. Does not listen if
 * the system chooses the port, because nobody knows the port yet.
 */
export async function answerWhileStarting(settings: Settings, log: Logger): Promise<Starting | undefined> {
  const { host, port, metricsHost, metricsPort } = settings;
  const isApart = metricsPort !== undefined;
  const address = isApart ? { host: metricsHost, port: metricsPort } : { host, port };
  if (address.port === 0) return undefined;
  let decision: string | undefined;
  const app = createStartingApp({ clock: systemClock, log, awaitedDecision: () => decision });
  await listenAt(app, address, isApart ? 'METRICS_PORT' : 'PORT');
  return {
    awaitDecision(what) {
      decision = what;
    },
    close: () => app.close(),
  };
}

async function listenAt(
  app: FastifyInstance,
  address: { readonly host: string; readonly port: number },
  setting: string,
): Promise<void> {
  try {
    await app.listen({ ...address });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    const { code, message } = error;
    const createListenError = (advice: string) =>
      new PlainError(`cannot listen: ${message}; ${advice}`, { cause: error });
    if (code === 'EADDRINUSE' || code === 'EACCES') throw createListenError(`set ${setting} to another port`);
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') throw createListenError(`check ${setting}`);
    throw error;
  }
}

function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
