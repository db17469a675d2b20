import type { Clock } from '../clock.js';
import type { Settings } from '../settings.js';
import { testMessage } from './message.js';
import type { Way } from './messages-sql.js';
import { NotTaken } from './way.js';
import { alertWays } from './ways.js';

export interface TestOutcome {
  readonly way: Way;
  /** Empty when the receiver has taken it. */
  readonly failure: string | null;
}

/** A message by each way that is set, past the database: what an operator wants to know is whether it arrives. */
export async function sendTests(settings: Settings, clock: Clock): Promise<TestOutcome[]> {
  const { environment, host, port, publicUrl } = settings;
  const message = testMessage({ environment, service: publicUrl ?? `http://${host}:${port}` });
  const ways = await alertWays(settings, clock);
  return Promise.all(
    ways.map(async (one) => {
      try {
        await one.send(`test-${clock.now()}`, message);
        return { way: one.way, failure: null };
      } catch (error) {
        if (!(error instanceof NotTaken)) throw error;
        return { way: one.way, failure: error.message };
      } finally {
        await one.close();
      }
    }),
  );
}
