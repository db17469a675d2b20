import { type Logger, pino } from 'pino';
import { BadSetting } from './bad-setting.js';
import { type Bridge, type BridgeOptions, startBridge } from './bridge.js';
import { type Clock, systemClock } from './clock.js';
import type { Institution } from './institution.js';
import { messageOf } from './log.js';
import { type Env, readBridgeSettings, readEnvironment, readLogLevel } from './settings.js';

/** What an institution's file is made with. */
export interface Surroundings {
  readonly env: Env;
  readonly clock: Clock;
}

const SAME_SIGNAL_MS = 1_000;

/** The main file of a bridge: settings from the environment, a JSON log on standard output, an end in good order. */
export async function runBridge(
  createInstitution: (surroundings: Surroundings) => Institution | Promise<Institution>,
  more: Partial<BridgeOptions> = {},
): Promise<void> {
  const env = readEnvironment();
  const log = pino({
    level: readLogLevel(env),
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  });
  const started: { bridge?: Bridge } = {};
  stopOnSignals(started, log);
  try {
    const clock = more.clock ?? systemClock;
    const institution = await createInstitution({ env, clock });
    const bridge = await startBridge({ ...(await readBridgeSettings(env)), ...more, institution, clock, log });
    started.bridge = bridge;
    log.info({ url: bridge.url, monitoringUrl: bridge.monitoringUrl }, 'ready');
  } catch (error) {
    log.error(describeFailure(error), 'the bridge cannot start');
    process.exitCode = 1;
  }
}

/** The text of an unknown error may hold an address with a password. */
function describeFailure(error: unknown): object {
  if (error instanceof BadSetting) return { why: error.message };
  const code = error instanceof Error && 'code' in error ? { code: String(error.code) } : {};
  return { why: error instanceof Error ? messageOf(error).replaceAll(/\/\/[^@\s]*@/g, '//…@') : typeof error, ...code };
}

/**
 * The first signal stops it in good order; one that comes later ends it at once, which loses nothing. Until the bridge has started there
 * is nothing to be put in order: without a listener a process that is the first of a container would not hear the signal at all.
 */
function stopOnSignals(started: { readonly bridge?: Bridge }, log: Logger): void {
  let firstAt: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const at = performance.now();
      const isFirst = firstAt === undefined;
      firstAt ??= at;
      if (at - firstAt > SAME_SIGNAL_MS) process.exit(1);
      if (!isFirst) return;
      if (started.bridge === undefined) process.exit(0);
      started.bridge.stop().then(
        () => process.exit(0),
        (error: unknown) => {
          log.error(describeFailure(error), 'the bridge did not stop in good order');
          process.exit(1);
        },
      );
    });
  }
}
