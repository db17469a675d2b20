import type { Clock } from '../platform/clock.js';
import type { Settings } from '../platform/settings.js';
import { loadAlertTransports } from './load-transports.js';
import { createTestMessage } from './message.js';
import type { AlertWay } from './messages-sql.js';
import { AlertNotTaken } from './transport.js';

export interface TestMessageOutcome {
  readonly way: AlertWay;
  /** Null when the receiver has taken it. */
  readonly failure: string | null;
}

/** Sends a message by each transport that is set. Nothing is stored: an operator wants to know whether it arrives. */
export async function sendTestMessages(settings: Settings, clock: Clock): Promise<TestMessageOutcome[]> {
  const { environment, host, port, publicUrl } = settings;
  const message = createTestMessage({ environment, service: publicUrl ?? `http://${host}:${port}` });
  const ways = await loadAlertTransports(settings, clock);
  return Promise.all(
    ways.map(async (one) => {
      try {
        await one.send(`test-${clock.now()}`, message);
        return { way: one.way, failure: null };
      } catch (error) {
        if (!(error instanceof AlertNotTaken)) throw error;
        return { way: one.way, failure: error.message };
      } finally {
        await one.close();
      }
    }),
  );
}
