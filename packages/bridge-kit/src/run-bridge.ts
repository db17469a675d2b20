import { type Logger, pino } from 'pino';
import { BadSetting } from './bad-setting.js';
import { type Bridge, type BridgeOptions, startBridge } from './bridge.js';
import { type Clock, systemClock } from './clock.js';
import type { Institution } from './institution.js';
import { messageOf } from './log.js';
import { type Env, readBridgeSettings, readEnvironment, readLogLevel } from './settings.js';

/** The arguments for creating an institution. */
export interface Surroundings {
  readonly env: Env;
  readonly clock: Clock;
}

const SAME_SIGNAL_MS = 1_000;

/** Runs a bridge: takes settings from the environment, logs JSON to standard output, stops gracefully on a signal. */
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

/** Describes a failed start and hides passwords in URLs. */
function describeFailure(error: unknown): object {
  if (error instanceof BadSetting) return { why: error.message };
  const code = error instanceof Error && 'code' in error ? { code: String(error.code) } : {};
  return {
    why: error instanceof Error ? messageOf(error).replaceAll(/\/\/[^@\s]{0,1000}@/g, '//…@') : typeof error,
    ...code,
  };
}

/**
 * Stops gracefully on the first signal. A signal more than a second later exits at once, which loses nothing. Call this
 * before the start is complete, because PID 1 in a container ignores signals without a listener.
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
          log.error(describeFailure(error), 'the bridge did not stop gracefully');
          process.exit(1);
        },
      );
    });
  }
}
