import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { createStartingApp } from './http/monitoring.js';
import { provisionDemo } from './operator/provisioning/demo.js';
import { loadAlertTransports } from './platform/alerts/load-transports.js';
import { systemClock } from './platform/clock.js';
import { type OpenedDatabase, openDatabaseFromSettings } from './platform/installation/open-database.js';
import { createLog } from './platform/log/log.js';
import { PlainError } from './platform/plain-error.js';
import { checkNodeSettings, readSettings, type Settings } from './platform/settings.js';
import { stopOnSignals } from './platform/stop-signals.js';
import { createService, type Service } from './service.js';

/** What is told to people goes to stderr, so that stdout is the log and nothing else. */
const say = (line: string) => process.stderr.write(`${line}\n`);

// Whoever read our output may be gone; that is no reason to leave the database without a stop.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

/** Composition root: settings, database, service, signals. */
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
  const starting = await answerFromTheStart(settings);
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
  });
  try {
    await starting?.close();
    const { here, operations } = await listen(service, settings);
    publicUrl = settings.publicUrl ?? here;
    banner(settings, { publicUrl, operations, demoFile: await demo(settings, opened, publicUrl) });
    log.info({ environment: settings.environment, baseUrl: publicUrl, engine: engineState(settings) }, 'serving');
    if (settings.readsOnly) log.warn('ENGINE is off: reads are served, everything else is refused or left undone');
    if (!stopping.signal.aborted) await once(stopping.signal, 'abort');
    await leave(service, settings);
  } finally {
    await service.stop();
    await opened.close();
  }
  log.info('stopped');
}

const engineState = ({ readsOnly }: Settings) => (readsOnly ? 'off' : 'on');

/** Load balancers are told first, and get their time to hear it. A second signal ends the process at any point. */
async function leave(service: Service, { drainSeconds }: Settings): Promise<void> {
  const atOnce = 'Press Ctrl-C again to stop at once.';
  service.announceStop();
  if (drainSeconds > 0) {
    say(`Stopping: /readyz answers 503, and requests are served for another ${drainSeconds} s. ${atOnce}`);
    await delay(drainSeconds * 1000);
  }
  say(`Stopping: running requests are finished first. ${atOnce}`);
}

/** The addresses that were really taken. */
interface Listening {
  readonly here: string;
  /** Of /metrics and /healthz. */
  readonly operations: string;
}

async function listen({ server, operations }: Service, settings: Settings): Promise<Listening> {
  const { host, port, metricsHost, metricsPort = 0 } = settings;
  await listenAt(server, { host, port }, INTERFACE);
  const here = addressOf(server.server, host);
  if (!operations) return { here, operations: here };
  await listenAt(operations, { host: metricsHost, port: metricsPort }, MONITORING);
  return { here, operations: addressOf(operations.server, metricsHost) };
}

/**
 * A database that is away, or a migration, may be waited for at length: whoever asks whether the process is alive is answered
 * meanwhile, where it will be answered later. The interface's own port, if that is another one, refuses connections, so that a
 * proxy finds another node. A port that the system chooses is known to nobody yet.
 */
async function answerFromTheStart(settings: Settings): Promise<FastifyInstance | undefined> {
  const { host, port, metricsHost, metricsPort } = settings;
  const isApart = metricsPort !== undefined;
  const address = isApart ? { host: metricsHost, port: metricsPort } : { host, port };
  if (address.port === 0) return undefined;
  const app = createStartingApp(systemClock);
  await listenAt(app, address, isApart ? MONITORING : INTERFACE);
  return app;
}

/** The settings that say where. */
interface ListenerNames {
  readonly host: string;
  readonly port: string;
}
const INTERFACE: ListenerNames = { host: 'HOST', port: 'PORT' };
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
    const told = (advice: string) => new PlainError(`cannot listen: ${message}; ${advice}`, { cause: error });
    if (code === 'EADDRINUSE' || code === 'EACCES') throw told(`set ${names.port} to another one`);
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') throw told(`check ${names.host}`);
    throw error;
  }
}

function addressOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function demo(settings: Settings, opened: OpenedDatabase, baseUrl: string): Promise<string | undefined> {
  if (settings.environment !== 'sandbox') return undefined;
  const operator = { ...opened, environment: settings.environment, actor: 'service:first-start' };
  return provisionDemo(operator, { dataDir: settings.dataDir, baseUrl });
}

interface Ready {
  readonly publicUrl: string;
  readonly operations: string;
  readonly demoFile: string | undefined;
}

/** What machines ask is named by where it is on this machine: under PUBLIC_URL nobody should find it. */
function banner(settings: Settings, { publicUrl, operations, demoFile }: Ready): void {
  const database = settings.databaseUrl === undefined ? `embedded PostgreSQL in ${settings.dataDir}` : 'DATABASE_URL';
  const rows = [
    ['Interface', `${publicUrl}/openapi/v1/`],
    ['Operations', `${operations}/readyz  /healthz  /metrics`],
    ['Database', database],
    ...(settings.readsOnly ? [['Engine', 'off: only reads are served, and nothing is done without being asked']] : []),
    ...(demoFile === undefined ? [] : [['Demo channel', demoFile]]),
  ];
  say(`\nPerennial is ready (${settings.environment})\n`);
  for (const [name = '', value = ''] of rows) say(`  ${name.padEnd(14)}${value}`);
  if (demoFile !== undefined) {
    const shown = path.relative(process.cwd(), demoFile);
    say(`\n  First order, from another terminal:\n\n    node examples/subscriptions.mjs ${shown}\n`);
  }
}

/**
 * An error that nobody waits for is a bug, and what it leaves behind nobody knows: the process ends, in order, so that requests
 * that have nothing to do with it are answered. Whoever supervises it starts another.
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
    say(`perennial: ${oneLine(error)}`);
    process.exit(1);
  },
);

/** Anything that is not meant for people is a bug, and shows where. */
function oneLine(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof PlainError) return error.message;
  return error.stack ?? error.message;
}
