import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { createStartingApp } from './http/monitoring.js';
import { listPeople } from './operator/people/people.js';
import { provisionDemo } from './operator/provisioning/demo.js';
import { loadAlertTransports } from './platform/alerts/load-transports.js';
import { systemClock } from './platform/clock.js';
import { type OpenedDatabase, openDatabaseFromSettings } from './platform/installation/open-database.js';
import { createLog } from './platform/log/log.js';
import { PlainError } from './platform/plain-error.js';
import { checkNodeSettings, readSettings, type Settings } from './platform/settings.js';
import { stopOnSignals } from './platform/stop-signals.js';
import { createService, type Service } from './service.js';

/** Messages to people go to stderr, so that stdout has only the log. */
const say = (line: string) => process.stderr.write(`${line}\n`);

// The reader of our output may have gone away; the process must not end without stopping the database.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

async function main(): Promise<void> {
  const settings = readSettings();
  const log = createLog(settings.logLevel, undefined, {
    node: settings.nodeId,
    format: settings.logFormat ?? (process.stdout.isTTY ? 'pretty' : 'json'),
  });
  for (const warning of checkNodeSettings(settings)) {
    say(`  Warning: ${warning}`);
    log.warn(warning);
  }
  const stopping = new AbortController();
  stopOnSignals(stopping);
  stopOnBugs(stopping, log);
  const starting = await answerWhileStarting(settings, log);
  const opened = await openDatabaseFromSettings(settings, {
    role: 'service',
    log: (line) => say(`  ${line}`),
    onWaiting: (what) => log.warn({ cause: what }, 'waiting, and not serving yet'),
    onIdleError: (err) => log.warn({ err, cause: 'idle connections to the database break' }, 'a connection broke'),
    onUnresponsive: (isSilent) => log.warn(isSilent ? 'the database does not answer' : 'the database answers again'),
    signal: stopping.signal,
    onTakenOver: (error) => {
      say(`perennial: ${error.message}`);
      stopping.abort();
    },
  });
  let publicUrl = settings.publicUrl ?? '';
  let consoleUrl = '';
  const localCallbacks = settings.environment === 'sandbox' && settings.databaseUrl === undefined;
  const service = createService({
    ...settings,
    ...opened,
    clock: systemClock,
    log,
    publicUrl: () => publicUrl,
    redeemUrl: () => settings.redeemUrl ?? publicUrl,
    localCallbacks,
    alertWays: await loadAlertTransports(settings, systemClock),
    isMonitoredApart: settings.metricsPort !== undefined,
    isConsoleApart: settings.consolePort !== undefined,
    consoleUrl: () => consoleUrl,
  });
  try {
    await starting?.close();
    const { url, operations, console } = await listenEverywhere(service, settings);
    publicUrl = settings.publicUrl ?? url;
    consoleUrl = settings.consoleUrl ?? `${console ?? publicUrl}/console`;
    printBanner(settings, {
      publicUrl,
      operations,
      consoleUrl,
      hasPeople: (await listPeople({ ...opened, environment: settings.environment, actor: 'service' })).length > 0,
      demoFile: await provisionDemoIfSandbox(settings, opened, publicUrl),
    });
    log.info({ environment: settings.environment, baseUrl: publicUrl, engine: engineState(settings) }, 'serving');
    if (settings.readsOnly) log.warn('ENGINE is off: reads are served, everything else is refused or left undone');
    if (!stopping.signal.aborted) await once(stopping.signal, 'abort');
    await announceStop(service, settings);
  } finally {
    await service.stop();
    await opened.close();
  }
  log.info('stopped');
}

const engineState = ({ readsOnly }: Settings) => (readsOnly ? 'off' : 'on');

/** Tells load balancers first and gives them time to notice. A second signal ends the process at any point. */
async function announceStop(service: Service, { drainSeconds }: Settings): Promise<void> {
  const atOnce = 'Press Ctrl-C again to stop at once.';
  service.announceStop();
  if (drainSeconds > 0) {
    say(`Stopping: /readyz answers 503, and requests are served for another ${drainSeconds} s. ${atOnce}`);
    await delay(drainSeconds * 1000);
  }
  say(`Stopping: running requests are finished first. ${atOnce}`);
}

/** The addresses that the servers really listen on. */
interface Listening {
  readonly url: string;
  /** The address of /metrics and /healthz. */
  readonly operations: string;
  /** The address of the console, if it has one of its own. */
  readonly console: string | undefined;
}

async function listenEverywhere(
  { server, operations, consoleServer }: Service,
  { host, port, metricsHost, metricsPort, consoleHost, consolePort }: Settings,
): Promise<Listening> {
  const listen = async (app: FastifyInstance, at: { host: string; port: number }, names: ListenerNames) => {
    await listenAt(app, at, names);
    return urlOf(app.server, at.host);
  };
  const url = await listen(server, { host, port }, INTERFACE);
  return {
    url,
    operations: operations ? await listen(operations, { host: metricsHost, port: metricsPort ?? 0 }, MONITORING) : url,
    console: consoleServer
      ? await listen(consoleServer, { host: consoleHost, port: consolePort ?? 0 }, CONSOLE)
      : undefined,
  };
}

/**
 * Waiting for a database or a migration may take long: meanwhile /healthz is answered on the port where it will be answered
 * later. If the interface has another port, that refuses connections, so that a proxy chooses another node. Nothing listens if
 * the system is to choose the port, since nobody knows it yet.
 */
async function answerWhileStarting(settings: Settings, log: Logger): Promise<FastifyInstance | undefined> {
  const { host, port, metricsHost, metricsPort } = settings;
  const isApart = metricsPort !== undefined;
  const address = isApart ? { host: metricsHost, port: metricsPort } : { host, port };
  if (address.port === 0) return undefined;
  const app = createStartingApp({ clock: systemClock, log });
  await listenAt(app, address, isApart ? MONITORING : INTERFACE);
  return app;
}

/** The names of the settings of an address, for error messages. */
interface ListenerNames {
  readonly host: string;
  readonly port: string;
}
const INTERFACE: ListenerNames = { host: 'HOST', port: 'PORT' };
const CONSOLE: ListenerNames = { host: 'CONSOLE_HOST', port: 'CONSOLE_PORT' };
const MONITORING: ListenerNames = { host: 'METRICS_HOST', port: 'METRICS_PORT' };

async function listenAt(
  app: FastifyInstance,
  address: { readonly host: string; readonly port: number },
  names: ListenerNames,
): Promise<void> {
  try {
    await app.listen({ ...address });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    const { code, message } = error;
    const createListenError = (advice: string) =>
      new PlainError(`cannot listen: ${message}; ${advice}`, { cause: error });
    if (code === 'EADDRINUSE' || code === 'EACCES') throw createListenError(`set ${names.port} to another one`);
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') throw createListenError(`check ${names.host}`);
    throw error;
  }
}

function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function provisionDemoIfSandbox(
  settings: Settings,
  opened: OpenedDatabase,
  baseUrl: string,
): Promise<string | undefined> {
  if (settings.environment !== 'sandbox') return undefined;
  const operator = { ...opened, environment: settings.environment, actor: 'service:first-start' };
  return provisionDemo(operator, { dataDir: settings.dataDir, baseUrl });
}

interface Ready {
  readonly publicUrl: string;
  readonly operations: string;
  readonly consoleUrl: string;
  /** Whether anybody can sign in to the console. */
  readonly hasPeople: boolean;
  readonly demoFile: string | undefined;
}

/** Operations are shown with the address on this machine: they should not be reachable under PUBLIC_URL. */
function printBanner(settings: Settings, { publicUrl, operations, consoleUrl, hasPeople, demoFile }: Ready): void {
  const database = settings.databaseUrl === undefined ? `embedded PostgreSQL in ${settings.dataDir}` : 'DATABASE_URL';
  const rows = [
    ['Interface', `${publicUrl}/openapi/v1/`],
    ...(settings.developers === 'on' ? [['Developers', `${publicUrl}/developers`]] : []),
    ...(settings.console === 'on' ? [['Console', consoleUrl]] : []),
    ['Operations', `${operations}/readyz  /healthz  /metrics`],
    ['Database', database],
    ...(settings.readsOnly ? [['Engine', 'off: only reads are served, and nothing is done without being asked']] : []),
    ...(demoFile === undefined ? [] : [['Demo channel', demoFile]]),
  ];
  say(`\nPerennial is ready (${settings.environment})\n`);
  for (const [name = '', value = ''] of rows) say(`  ${name.padEnd(14)}${value}`);
  if (settings.console === 'on' && !hasPeople) {
    say('\n  To sign in to the console, make an account from another terminal:\n');
    say('    npx perennial operator create NAME --role admin');
  }
  if (demoFile !== undefined) {
    const shown = path.relative(process.cwd(), demoFile);
    say(`\n  First order, from another terminal:\n\n    node examples/first-order.mjs ${shown}\n`);
  }
}

/**
 * An error that nothing catches is a bug, and the state after it is unknown: the process stops in the usual way, so that
 * requests that have nothing to do with it are answered. A supervisor starts another one.
 */
function stopOnBugs(stopping: AbortController, log: Logger): void {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (err: unknown) => {
      log.fatal({ err }, 'a bug: this node stops');
      process.exitCode = 1;
      stopping.abort();
    });
  }
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    if (error instanceof Error && error.name === 'AbortError') process.exit(0);
    say(`perennial: ${describeError(error)}`);
    process.exit(1);
  },
);

/** An error that is not a PlainError is a bug, so its stack is shown. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof PlainError) return error.message;
  return error.stack ?? error.message;
}
