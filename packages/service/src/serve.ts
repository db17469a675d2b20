import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { loadAlertTransports } from './alerts/load-transports.js';
import { type Listening, listenEverywhere } from './listen.js';
import { systemClock } from './platform/clock.js';
import type { OpenedDatabase } from './platform/installation/open-database.js';
import type { Settings } from './platform/settings.js';
import { createService } from './service.js';

export interface ServingOptions {
  readonly settings: Settings;
  readonly opened: OpenedDatabase;
  readonly log: Logger;
  /** True if events may be sent to receivers on this machine. */
  readonly localCallbacks: boolean;
}

export async function prepareServing({ settings, opened, log, ...more }: ServingOptions) {
  let urls = toUrls(settings, { url: '', operations: '', console: undefined });
  const service = createService({
    ...settings,
    ...opened,
    ...more,
    clock: systemClock,
    log,
    requestLog: true,
    publicUrl: () => urls.publicUrl,
    redeemUrl: () => settings.redeemUrl ?? urls.publicUrl,
    alertWays: await loadAlertTransports(settings, systemClock),
    isMonitoredApart: settings.metricsPort !== undefined,
    isConsoleApart: settings.consolePort !== undefined,
    consoleUrl: () => urls.consoleUrl,
  });
  return {
    async listen(): Promise<Listening> {
      await service.clockCompared;
      const listening = await listenEverywhere(service, settings);
      urls = toUrls(settings, listening);
      return listening;
    },
    /** Announces the stop to load balancers and gives them time to notice. */
    async announceStop(): Promise<void> {
      service.announceStop();
      await delay(settings.drainSeconds * 1000);
    },
    /** Finishes the work in flight and stops. */
    stop: () => service.stop(),
  };
}

/** Returns the URLs at which operators and channels reach the listeners. */
export function toUrls(settings: Settings, { url, console }: Listening) {
  const publicUrl = settings.publicUrl ?? url;
  return { publicUrl, consoleUrl: settings.consoleUrl ?? `${console ?? publicUrl}/console` };
}

/**
 * Returns true if events may be sent to receivers on this machine. That is allowed only in a sandbox with the embedded
 * database.
 */
export const allowsLocalCallbacks = ({ environment, databaseUrl }: Settings): boolean =>
  environment === 'sandbox' && databaseUrl === undefined;
