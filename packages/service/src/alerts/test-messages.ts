import type { Clock } from '../platform/clock.js';
import type { Settings } from '../platform/settings.js';
import { loadAlertTransports } from './load-transports.js';
import { createTestMessage } from './message.js';
import type { AlertWay } from './messages-sql.js';
import { AlertNotTaken } from './transport.js';

export interface TestMessageOutcome {
  readonly way: AlertWay;
  /** Null if the receiver has accepted the message. */
  readonly failure: string | null;
}

/** Sends a test message by each configured transport. Stores nothing, because the operator waits for the outcome. */
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
