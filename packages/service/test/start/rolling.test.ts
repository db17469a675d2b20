import { expect, it, onTestFinished } from 'vitest';
import { freshDatabase } from '../support/database.js';
import { rollingRestart } from '../support/rolling-restart.js';

it('behind haproxy every node is restarted in turn, and no request fails or has to be sent again', async () => {
  const fresh = await freshDatabase();
  try {
    const { failures, requests, restarts, ordersAnswered, ordersStored, servers } = await rollingRestart({
      databaseUrl: fresh.url,
      haproxy: process.env['HAPROXY'] ?? '/usr/sbin/haproxy',
      nodes: 3,
      rounds: 1,
      callers: 3,
      // As fast as they can is what `npm run prove -- rolling` has.
      pauseMs: 500,
      drainSeconds: 3,
      checkMs: 200,
      onStarted: ({ child }) => onTestFinished(() => void child.kill('SIGKILL')),
    });
    expect(failures).toEqual([]);
    expect(restarts).toBe(3);
    expect(requests).toBeGreaterThan(50);
    expect(ordersStored).toBe(ordersAnswered);
    for (const server of servers) {
      expect(server).toMatchObject({ isUp: true, connectionErrors: 0, responseErrors: 0, retries: 0 });
      expect(server.requests).toBeGreaterThan(0);
    }
  } finally {
    await fresh.close();
  }
  // Nine starts and stops of real nodes: the bound is for what hangs.
}, 180_000);
