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

/** Messages to people go to stderr, so that stdout has only the log. */
const say = (line: string) => process.stderr.write(`${line}\n`);

// The reader of our output may have gone away; the process must not end without stopping the database.
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
    if (!isAbort(err)) log.fatal({ err }, 'this node ends');
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
  const { environment, readsOnly } = settings;
  const urls = toUrls(settings, listening);
  const { operations } = listening;
  const demoFile = await tryOptional(log, 'the demo channel was not made, which the next start does', () =>
    provisionDemoIfSandbox(settings, opened, urls.publicUrl),
  );
  const people = await tryOptional(log, 'the accounts of the console could not be read', () =>
    describePeople(opened.database),
  );
  await tryOptional(log, 'the banner could not be printed', () => {
    const consoleUrl = localConsoleUrl(settings, listening);
    const hasPeople = people?.length !== 0;
    const { publicUrl } = urls;
    for (const line of bannerLines(settings, { publicUrl, operations, consoleUrl, hasPeople, demoFile })) say(line);
  });
  log.info({ environment, baseUrl: urls.publicUrl, engine: readsOnly ? 'off' : 'on' }, 'serving');
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
