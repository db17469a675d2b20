import { once } from 'node:events';
import type { Logger } from 'pino';
import { bannerLines, localConsoleUrl } from './banner.js';
import { answerWhileStarting, type Listening, type Starting } from './listen.js';
import { describePeople } from './operator/people/people-sql.js';
import { provisionDemo } from './operator/provisioning/demo.js';
import { sqlState } from './platform/db/database.js';
import { type OpenedDatabase, openDatabaseFromSettings } from './platform/installation/open-database.js';
import { createLog } from './platform/log/log.js';
import { PlainError } from './platform/plain-error.js';
import { checkNodeSettings, readSettings, type Settings } from './platform/settings.js';
import { stopOnSignals } from './platform/stop-signals.js';
import { allowsLocalCallbacks, prepareServing, toUrls } from './serve.js';

/** Messages to operators go to stderr, so that stdout contains only the log. */
const say = (line: string) => process.stderr.write(`${line}\n`);

// Ignores write errors on closed output. Otherwise the process would crash before it stops the database.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

async function main(): Promise<void> {
  const settings = readSettings();
  const log = openLog(settings);
  for (const warning of checkNodeSettings(settings)) {
    say(`  Warning: ${warning}`);
    log.warn(warning);
  }
  const stopping = new AbortController();
  stopOnSignals(stopping);
  stopOnBugs(stopping, log);
  try {
    await serve(settings, log, stopping);
  } catch (err) {
    if (!isAbort(err)) log.fatal({ err }, 'this node stops because of an error');
    throw err;
  }
  log.info('stopped');
}

async function serve(settings: Settings, log: Logger, stopping: AbortController): Promise<void> {
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

const openLog = (settings: Settings): Logger =>
  createLog(settings.logLevel, undefined, {
    node: settings.nodeId,
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
      log.warn({ cause: what }, 'waiting; not serving yet');
      starting?.awaitDecision(isDecision ? what : undefined);
    },
    onIdleError: (err) =>
      log.warn({ err, cause: 'idle connections to the database break' }, 'a connection to the database broke'),
    onUnresponsive: (isSilent) => log.warn(isSilent ? 'the database does not answer' : 'the database answers again'),
    // Logged without the error, because lines with an error are summed up by cause, and this line must not be missed.
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

/** Announces that the node is ready. Only logs failures, because the node already serves. */
async function tellReady(settings: Settings, opened: OpenedDatabase, log: Logger, listening: Listening): Promise<void> {
  const { environment, readsOnly } = settings;
  const urls = toUrls(settings, listening);
  const { operations } = listening;
  const demoFile = await tryOptional(log, 'the demo channel was not created; the next start retries', () =>
    provisionDemoIfSandbox(settings, opened, urls.publicUrl),
  );
  const people = await tryOptional(log, 'could not read the accounts of the console', () =>
    describePeople(opened.database),
  );
  await tryOptional(log, 'could not print the banner', () => {
    const consoleUrl = localConsoleUrl(settings, listening);
    const hasPeople = people?.length !== 0;
    const { publicUrl } = urls;
    for (const line of bannerLines(settings, { publicUrl, operations, consoleUrl, hasPeople, demoFile })) say(line);
  });
  log.info({ environment, baseUrl: urls.publicUrl, engine: readsOnly ? 'off' : 'on' }, 'serving');
  if (readsOnly) log.warn('ENGINE is off: this node serves reads only and runs no jobs');
}

/** Runs `work`. If it fails, logs the failure and returns undefined. */
async function tryOptional<T>(log: Logger, failure: string, work: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (err) {
    log.warn({ err }, `${failure}; the node still serves`);
    return undefined;
  }
}

/** `stopOnSignals` ends the process at a second signal that comes more than a second after the first. */
const AT_ONCE = 'Press Ctrl-C again to stop immediately.';

function sayStopping({ drainSeconds }: Settings): void {
  if (drainSeconds === 0) return;
  say(`Stopping: /readyz answers 503; requests are served for another ${drainSeconds} s. ${AT_ONCE}`);
}

const sayFinishing = () => say(`Stopping: finishing requests in flight. ${AT_ONCE}`);

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
 * After an uncaught error, stops the process in the usual way, so that other requests are still answered. The error is
 * a bug and the process may be in an undefined state. A supervisor restarts the process.
 */
function stopOnBugs(stopping: AbortController, log: Logger): void {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (err: unknown) => {
      log.fatal({ err }, 'uncaught error: this node stops');
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

/** Describes an error. An error that is not a PlainError is a bug, so its stack is included. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof PlainError) return error.message;
  return error.stack ?? error.message;
}
