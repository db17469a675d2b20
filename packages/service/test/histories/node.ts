import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import { billDueOrders } from '../../src/engine/jobs/billing.js';
import { expireAndCompleteDue } from '../../src/engine/jobs/expire-and-complete.js';
import { renewDueOrders } from '../../src/engine/jobs/renewals.js';
import { cancelAtInstitutions } from '../../src/engine/recovery/cancellations.js';
import { askAboutPendingDebits } from '../../src/engine/recovery/debits.js';
import { askAboutPendingRefunds } from '../../src/engine/recovery/refunds.js';
import type { Gateway } from '../../src/gateways/gateway.js';
import type { Gateways } from '../../src/gateways/gateway-registry.js';
import type { Clock } from '../../src/platform/clock.js';
import { type Database, type Transaction, Unavailable, wrapQuery } from '../../src/platform/db/database.js';
import type { Vault } from '../../src/platform/secrets/vault.js';
import { createService } from '../../src/service.js';
import { createBatchSettler } from '../../src/subscriptions/steps/payments/batch-settler.js';
import { until } from '../support/processes.js';
import { nodeDeps } from '../support/service.js';

/**
 * The point at which a node dies: before or after its nth call to an institution, or its nth commit. Reads count as
 * commits.
 */
export interface Crash {
  readonly at: 'call' | 'commit';
  readonly nth: number;
  readonly side: 'before' | 'after';
}

/**
 * A node that can be made to die at a named point. After that, nothing that its code attempts reaches the database or
 * an institution: for everybody else it is as dead as after kill -9.
 */
export interface DoomedNode {
  readonly baseUrl: string;
  readonly database: Database;
  readonly gateways: Gateways;
  readonly dead: boolean;
  /** Returns the reason that the log gives for a request answered with 503001. */
  whyUnavailable(requestId: string): Promise<string>;
  arm(crash: Crash | undefined): void;
  /** Runs every job one time. Returns the number of items processed. */
  turn(paymentChannelCodes: readonly string[]): Promise<number>;
  /** Resolves when nothing that the node began before its death is still in flight. */
  quiet(): Promise<void>;
  close(): Promise<void>;
}

export interface NodeDeps {
  readonly database: Database;
  readonly gateways: ReadonlyMap<string, Gateway>;
  readonly vault: Vault;
  readonly clock: Clock;
}

export async function startNode({ database: real, gateways: banks, vault, clock }: NodeDeps): Promise<DoomedNode> {
  let dead = false;
  let armed: { readonly crash: Crash; left: number } | undefined;
  const inFlight = new Set<Promise<unknown>>();
  const gone = () => new Unavailable('this node has ended');

  function passes(at: Crash['at'], side: Crash['side']): void {
    if (dead) throw gone();
    if (armed?.crash.at !== at || armed.crash.side !== side) return;
    armed.left -= 1;
    if (armed.left >= 0) return;
    dead = true;
    throw gone();
  }

  async function watched<T>(work: () => Promise<T>): Promise<T> {
    const running = work();
    inFlight.add(running);
    try {
      return await running;
    } finally {
      inFlight.delete(running);
    }
  }

  const database: Database = {
    ...real,
    query: wrapQuery(real, (run) =>
      watched(async () => {
        passes('commit', 'before');
        const rows = await run();
        passes('commit', 'after');
        return rows;
      }),
    ),
    transaction: (work) =>
      watched(async () => {
        if (dead) throw gone();
        const result = await real.transaction(async (tx) => {
          const own: Transaction = {
            ...tx,
            query: wrapQuery(tx, (run) => {
              if (dead) throw gone();
              return run();
            }),
          };
          const value = await work(own);
          passes('commit', 'before');
          return value;
        });
        passes('commit', 'after');
        return result;
      }),
    get connections() {
      return real.connections;
    },
    close: async () => undefined,
  };

  const doomed =
    <Request, Outcome>(call: (request: Request) => Promise<Outcome>) =>
    (request: Request): Promise<Outcome> =>
      watched(async () => {
        passes('call', 'before');
        const outcome = await call(request);
        passes('call', 'after');
        return outcome;
      });
  const gateways: Gateways = {
    async of(code) {
      const bank = banks.get(code);
      if (!bank) throw new Error(`there is no bank ${code}`);
      return {
        ...bank,
        debit: doomed(bank.debit),
        queryDebit: doomed(bank.queryDebit),
        refund: doomed(bank.refund),
        queryRefund: doomed(bank.queryRefund),
        cancelAgreement: doomed(bank.cancelAgreement),
      };
    },
  };

  const { log, lines } = capturedRefusals();
  const service = createService({ database, vault, clock, ...nodeDeps({ gateways, log }) });
  await service.server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = service.server.server.address() as AddressInfo;
  const channels = createChannelRegistry(database, vault);
  const jobs = { database, gateways, channels, clock, log, settle: createBatchSettler(database, clock) };

  return {
    baseUrl: `http://127.0.0.1:${port}`,
    database,
    gateways,
    get dead() {
      return dead;
    },
    whyUnavailable: (requestId) =>
      until('the line of the request in the log', () => lines.find((line) => line.includes(requestId)), 1_000).catch(
        String,
      ),
    arm(crash) {
      armed = crash && { crash, left: crash.nth };
    },
    async turn(codes) {
      let done = (await billDueOrders(database)) + (await expireAndCompleteDue(database));
      for (const code of codes) done += await renewDueOrders(jobs, { code, debitsPerSecond: null });
      done += await askAboutPendingDebits(jobs);
      done += await askAboutPendingRefunds(jobs);
      return done + (await cancelAtInstitutions(jobs));
    },
    async quiet() {
      while (inFlight.size > 0) await Promise.allSettled(inFlight);
    },
    close: () => service.stop(),
  };
}

/** Captures the log lines of requests answered with 503001. The node writes them after the answer. */
function capturedRefusals() {
  const lines: string[] = [];
  const write = (line: string) => void (line.includes('"503001"') && lines.push(line));
  return { log: pino({ level: 'info' }, { write }), lines };
}
