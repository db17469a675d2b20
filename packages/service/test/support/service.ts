import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import type { Operator } from '../../src/operator/operator.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import type { Clock } from '../../src/platform/clock.js';
import { signAuditLog } from '../../src/platform/secrets/keyed-hasher.js';
import { openVault, type Vault } from '../../src/platform/secrets/vault.js';
import { createService, type ServiceDeps } from '../../src/service.js';
import { type ChannelClient, channelClient } from './channel-client.js';
import { type FreshDatabase, freshDatabase } from './database.js';

/** Returns a clock that stands still until a test moves it. */
export function manualClock(
  start = Date.UTC(2026, 0, 31, 4, 0, 0),
): Clock & { set(now: number): void; advance(ms: number): void } {
  let time = start;
  return {
    now: () => time,
    set: (now) => {
      time = now;
    },
    advance: (ms) => {
      time += ms;
    },
  };
}

export interface TestService {
  readonly baseUrl: string;
  readonly fresh: FreshDatabase;
  readonly vault: Vault;
  readonly operator: Operator;
  readonly clock: ReturnType<typeof manualClock>;
  /** Creates a channel with a client that shares the service's clock. */
  channel(appId?: string): Promise<ChannelClient>;
  close(): Promise<void>;
}

/** Limits that refuse nothing, however slow the machine. */
export const SLOW_MACHINE = { alwaysAllowed: 100_000, patienceMs: 300_000 };

/** Returns the defaults of every test node; `more` overrides them. */
export const nodeDeps = (more: Partial<ServiceDeps> = {}) => ({
  log: pino({ level: 'silent' }),
  environment: 'sandbox' as const,
  publicUrl: () => 'https://pay.example',
  engine: false,
  trustedProxies: [],
  ...more,
  // Tests that count statements must not meet the job that stores counts of calls.
  testLimits: {
    authFailuresPerMinute: 100_000,
    load: SLOW_MACHINE,
    healthSeconds: 3600,
    // Accepts any difference of clocks, because the test clock stands still.
    clockLimits: { maxSeconds: Number.POSITIVE_INFINITY },
    ...more.testLimits,
  },
});

/** Starts a service in this process, over real HTTP on a free port, with its own database and a manual clock. */
export async function testService(more: Partial<ServiceDeps> = {}): Promise<TestService> {
  const fresh = await freshDatabase();
  const { vault = openVault([randomBytes(32)]) } = more;
  signAuditLog(fresh.database, vault);
  const clock = manualClock();
  const service = createService({ database: fresh.database, vault, clock, ...nodeDeps(more) });
  await service.server.listen({ host: '127.0.0.1', port: 0 });
  const baseUrl = `http://127.0.0.1:${(service.server.server.address() as AddressInfo).port}`;
  const operator: Operator = { database: fresh.database, vault, environment: 'sandbox', actor: 'test' };
  return {
    baseUrl,
    fresh,
    vault,
    operator,
    clock,
    async channel(appId) {
      const created = await createChannel(operator, {
        name: 'Test channel',
        ratePerSecond: 10_000,
        ...(appId === undefined ? {} : { appId }),
      });
      return channelClient(baseUrl, created, () => clock.now());
    },
    async close() {
      await service.stop();
      await fresh.close();
    },
  };
}
