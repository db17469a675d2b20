import cluster from 'node:cluster';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { bannerLines, localConsoleUrl } from './banner.js';
import { answerWhileStarting, type Starting } from './listen.js';
import { listPeople } from './operator/people/people.js';
import { provisionDemo } from './operator/provisioning/demo.js';
import { sqlState } from './platform/db/database.js';
import { type OpenedDatabase, openDatabaseFromSettings } from './platform/installation/open-database.js';
import { createLog } from './platform/log/log.js';
import { PlainError } from './platform/plain-error.js';
import { checkNodeSettings, readSettings, type Settings, toWorkerSettings } from './platform/settings.js';
import { stopOnSignals } from './platform/stop-signals.js';
import type { Listening } from './platform/workers/messages.js';
import { startWorkers } from './platform/workers/primary.js';
import { joinPrimary, type Primary } from './platform/workers/worker.js';
import { allowsLocalCallbacks, prepareServing, toUrls } from './serve.js';

/** Messages to people go to stderr, so that stdout has only the log. */
const say = (line: string) => process.stderr.write(`${line}\n`);

// The reader of our output may have gone away; the process must not end without stopping the database.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

async function main(): Promise<void> {
  const settings = readSettings();
  if (cluster.isWorker) return serveAsWorker(settings);
  const log = openLog(settings);
  for (const warning of checkNodeSettings(settings)) {
    say(`  Warning: ${warning}`);
    log.warn(warning);
  }
  const stopping = new AbortController();
  stopOnSignals(stopping);
  stopOnBugs(stopping, log, 'this node stops');
  try {
    await (settings.workers === 1 ? serveAlone : serveWithWorkers)(settings, log, stopping);
  } catch (err) {
    if (!isAbort(err)) log.fatal({ err }, 'this node ends');
    throw err;
  }
  log.info('stopped');
}

/** One process does everything. */
async function serveAlone(settings: Settings, log: Logger, stopping: AbortController): Promise<void> {
  const starting = await answerWhileStarting(settings, log);
  const opened = await openForService(settings, log, stopping, starting);
  const localCallbacks = allowsLocalCallbacks(settings);
  const serving = await prepareServing({ settings, opened, log, localCallbacks });
  try {
    await starting?.close();
    await tellReady(settings, opened, log, await serving.listen());
    if (!stopping.signal.aborted) await once(stopping.signal, 'abort');
    sayStopping(settings);
    await serving.announceStop();
    sayFinishing();
  } finally {
    await serving.stop();
    await opened.close();
  }
}

/**
 * This process has the embedded database and the schema, and starts the others, which serve. It has no connection once those do
 * (docs/decisions/0035-all-cores.md).
 */
async function serveWithWorkers(settings: Settings, log: Logger, stopping: AbortController): Promise<void> {
  const starting = await answerWhileStarting(settings, log);
  const opened = await openForService({ ...settings, databasePool: FEW_CONNECTIONS }, log, stopping, starting);
  const workers = startWorkers({
    count: settings.workers,
    program: fileURLToPath(import.meta.url),
    start: { nodeId: settings.nodeId, databaseUrl: opened.databaseUrl },
    log,
  });
  const stopped = once(stopping.signal, 'abort');
  try {
    await Promise.race([workers.prepared, stopped]);
    await starting?.close();
    const listening = stopping.signal.aborted ? undefined : await Promise.race([workers.listen(), stopped]);
    if (listening && !Array.isArray(listening)) await tellReady(settings, opened, log, listening);
    if (!stopping.signal.aborted) await stopped;
    sayStopping(settings);
    if (settings.drainSeconds === 0) sayFinishing();
  } finally {
    if (!(await workers.stop())) process.exitCode = 1;
    await opened.close();
  }
}

/** For what the primary asks at a start. They are closed when nobody has used them for a minute. */
const FEW_CONNECTIONS = 2;

async function serveAsWorker(nodeSettings: Settings): Promise<void> {
  const stopping = new AbortController();
  let isWholeNode = false;
  const { siblings, ...primary } = joinPrimary(nodeSettings.workers, () => {
    isWholeNode = true;
    stopping.abort();
  });
  try {
    const { worker, nodeId, databaseUrl } = await primary.start;
    const localCallbacks = allowsLocalCallbacks(nodeSettings);
    // The primary has brought the schema up to date.
    const settings: Settings = { ...toWorkerSettings(nodeSettings), nodeId, databaseUrl, migrate: 'never' };
    const log = openLog(settings, worker);
    stopOnBugs(stopping, log, 'this worker stops');
    const opened = await openForService(settings, log, stopping);
    const hasReadings = worker === 1;
    const serving = await prepareServing({ settings, opened, log, siblings, hasReadings, localCallbacks });
    try {
      primary.tellPrepared();
      const stopped = once(stopping.signal, 'abort');
      await Promise.race([primary.mayListen, stopped]);
      if (!stopping.signal.aborted) primary.tellServing(await serving.listen());
      if (!stopping.signal.aborted) await stopped;
      // One that stops by itself leaves the port to the others at once: the node as a whole goes on.
      if (isWholeNode) await serving.announceStop();
    } finally {
      await serving.stop();
      await opened.close();
    }
  } catch (error) {
    await failAsWorker(primary, error);
  }
}

/** The primary says it, once for all workers that say the same. */
async function failAsWorker(primary: Primary, error: unknown): Promise<void> {
  if (isAbort(error)) return;
  process.exitCode = 1;
  await primary.tellFailed(describeError(error));
}

const openLog = (settings: Settings, worker?: number): Logger =>
  createLog(settings.logLevel, undefined, {
    node: settings.nodeId,
    worker,
    format: settings.logFormat ?? (process.stdout.isTTY ? 'pretty' : 'json'),
  });

const openForService = (
  settings: Settings,
  log: Logger,
  stopping: AbortController,
  starting?: Starting,
): Promise<OpenedDatabase> =>
  openDatabaseFromSettings(settings, {
    role: 'service',
    log: (line) => say(`  ${line}`),
    onWaiting: (what, isDecision) => {
      log.warn({ cause: what }, 'waiting, and not serving yet');
      starting?.awaitDecision(isDecision ? what : undefined);
    },
    onIdleError: (err) => log.warn({ err, cause: 'idle connections to the database break' }, 'a connection broke'),
    onUnresponsive: (isSilent) => log.warn(isSilent ? 'the database does not answer' : 'the database answers again'),
    // Without the error: lines of its cause are counted, and this one is not to be missed.
    onWriteFailure: (failure) =>
      failure
        ? log.error({ sqlState: sqlState(failure) }, 'the database cannot write: this node is not ready until it can')
        : log.warn('the database can write again'),
    signal: stopping.signal,
    onTakenOver: (error) => {
      say(`perennial: ${error.message}`);
      stopping.abort();
    },
  });

/** The node serves already, so no failure in here may end it. */
async function tellReady(settings: Settings, opened: OpenedDatabase, log: Logger, listening: Listening): Promise<void> {
  const { environment, workers, readsOnly } = settings;
  const urls = toUrls(settings, listening);
  const { operations } = listening;
  const demoFile = await tryOptional(log, 'the demo channel was not made, which the next start does', () =>
    provisionDemoIfSandbox(settings, opened, urls.publicUrl),
  );
  const people = await tryOptional(log, 'the accounts of the console could not be read', () =>
    listPeople({ ...opened, environment, actor: 'service' }),
  );
  await tryOptional(log, 'the banner could not be printed', () => {
    const consoleUrl = localConsoleUrl(settings, listening);
    const hasPeople = people?.length !== 0;
    const { publicUrl } = urls;
    for (const line of bannerLines(settings, { publicUrl, operations, consoleUrl, hasPeople, demoFile })) say(line);
  });
  const many = workers === 1 ? undefined : workers;
  log.info({ environment, baseUrl: urls.publicUrl, engine: readsOnly ? 'off' : 'on', workers: many }, 'serving');
  if (readsOnly) log.warn('ENGINE is off: reads are served, everything else is refused or left undone');
}

/** Returns undefined if `work` fails, and logs that. */
async function tryOptional<T>(log: Logger, failure: string, work: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (err) {
    log.warn({ err }, `${failure}; the node serves all the same`);
    return undefined;
  }
}

/** A second signal ends the process at any point. */
const AT_ONCE = 'Press Ctrl-C again to stop at once.';

function sayStopping({ drainSeconds }: Settings): void {
  if (drainSeconds === 0) return;
  say(`Stopping: /readyz answers 503, and requests are served for another ${drainSeconds} s. ${AT_ONCE}`);
}

const sayFinishing = () => say(`Stopping: running requests are finished first. ${AT_ONCE}`);

async function provisionDemoIfSandbox(
  settings: Settings,
  opened: OpenedDatabase,
  baseUrl: string,
): Promise<string | undefined> {
  if (settings.environment !== 'sandbox') return undefined;
  const operator = { ...opened, environment: settings.environment, actor: 'service:first-start' };
  return provisionDemo(operator, { dataDir: settings.dataDir, baseUrl });
}

/**
 * An error that nothing catches is a bug, and the state after it is unknown: the process stops in the usual way, so that
 * requests that have nothing to do with it are answered. A supervisor, or the primary, starts another one.
 */
function stopOnBugs(stopping: AbortController, log: Logger, what: string): void {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (err: unknown) => {
      log.fatal({ err }, `a bug: ${what}`);
      process.exitCode = 1;
      stopping.abort();
    });
  }
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    if (isAbort(error)) process.exit(0);
    say(`perennial: ${describeError(error)}`);
    process.exit(1);
  },
);

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';

/** An error that is not a PlainError is a bug, so its stack is shown. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof PlainError) return error.message;
  return error.stack ?? error.message;
}
