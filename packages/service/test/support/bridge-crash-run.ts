import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CRASH_POINTS, type CrashPoint } from '@perennial/bridge-kit';
import { expect, it, onTestFinished } from 'vitest';
import { createBridgeGateway } from '../../src/gateways/bridge/bridge-gateway.js';
import { runReconciliation } from '../../src/operator/books/reconciliation.js';
import type { OperatorWithGateways } from '../../src/operator/operator.js';
import { refundPayment } from '../../src/operator/orders/refunds/refunds.js';
import { systemClock } from '../../src/platform/clock.js';
import { openVault } from '../../src/platform/secrets/vault.js';
import { temporaryFolder } from '../institution/support.js';
import { operatorOn, PRODUCT } from '../operator/support.js';
import { bridgedChannel } from './bridged-channel.js';
import { type ChannelClient, type ChannelCredentials, channelClient, type Reply } from './channel-client.js';
import { type FreshDatabase, freshDatabase } from './database.js';
import { sharedAgreement, sharedRequest } from './demo.js';
import { freePort } from './free-port.js';
import { type KeptAlive, keptAlive } from './kept-alive.js';
import { until } from './processes.js';
import { untilAnswered } from './until-answered.js';

const CONNECTIONS = 8;
const REFUNDS = 12;
const DAY_MS = 24 * 3_600_000;
const SERVICE_POINTS = ['before-call', 'after-call', 'after-commit'] as const;
/** Only debits have notices. */
const debitKill = (point: CrashPoint) => (point === 'notice-sent' ? `notice ${point}` : `debit ${point}`);
const REFUND_KILLS = ['refund institution-called'];
type ServicePoint = (typeof SERVICE_POINTS)[number];
const EVERYWHERE: Required<Side>['kills'] = { bridge: CRASH_POINTS, service: SERVICE_POINTS };
const debitKills = ({ kills = EVERYWHERE }: Side) => kills.bridge.map(debitKill);
const servicePoints = ({ kills = EVERYWHERE }: Side) => kills.service;
const DYING = fileURLToPath(new URL('../../../bridge-kit/test/support/dying/preload.mjs', import.meta.url));

/** A clock one day ahead. By then every institution has today's statement. */
export const tomorrow = { now: () => Date.now() + DAY_MS };

/** An institution and its bridge, as the run sees them. */
export interface Side {
  readonly paymentChannelCode: string;
  /** The bridge's package. */
  readonly bridge: string;
  readonly orders: number;
  /**
   * The points at which the bridge and the service are killed during debits, one time each. Default: every named point.
   */
  readonly kills?: { readonly bridge: readonly CrashPoint[]; readonly service: readonly ServicePoint[] };
  /** The settings specific to this bridge. */
  settings(write: (name: string, text: string) => Promise<string>, webhookUrl: string): Promise<Record<string, string>>;
  /** Prepares the institution for the nth order. Returns the order's agreement number. */
  agree(n: number): string;
  /** Returns whether the nth order is paid in the end. */
  isPaid(n: number): boolean;
  /** Sets a fault before some of the refunds. */
  disturbRefund(n: number): void;
  /** Sends late messages of the institution after everything is settled. */
  sayAgain?(): Promise<void>;
  /** Returns the institution's ledger: the cents of every payment and refund by attemptNo. */
  ledger(): ReadonlyMap<string, Booked>;
}

export interface Booked {
  readonly debits: readonly number[];
  readonly refunds: readonly number[];
}

interface World {
  readonly side: Side;
  readonly database: FreshDatabase['database'];
  readonly operator: OperatorWithGateways;
  readonly client: ChannelClient;
  readonly bridge: KeptAlive;
  readonly node: KeptAlive;
}

/** Tests orders and refunds while bridge and service are killed at named points. */
export function itAgreesThroughCrashes(side: Side): void {
  it(`${side.orders} orders paid over ${side.bridge} while it and the service are killed at named points: both sides agree to the cent`, async () => {
    const fresh = await freshDatabase();
    onTestFinished(() => fresh.close());
    await runThroughCrashes(side, fresh);
  }, 300_000);
}

async function runThroughCrashes(side: Side, fresh: FreshDatabase): Promise<void> {
  const days = new Set([today()]);
  const world = await startWorld(side, fresh);
  const { bridge, node, operator } = world;
  const failed = Promise.race([bridge.failed, node.failed]);

  await Promise.race([createOrders(world), failed]);
  await settled(world, 'debit_attempts');
  await killedAt(world, debitKills(side));
  expect(node.kills()).toBeGreaterThanOrEqual(servicePoints(side).length);
  await refundSome(world);
  await settled(world, 'refunds');
  await killedAt(world, [...debitKills(side), ...REFUND_KILLS]);
  await side.sayAgain?.();
  await noticesTaken(world);

  await compareLedgers(world);
  days.add(today());
  for (const day of days) {
    const run = await runReconciliation(operator, { paymentChannelCode: side.paymentChannelCode, day });
    expect(run).toMatchObject({ source: 'GATEWAY', differences: 0, open: 0 });
  }
  await operator.gateways.close?.();
  await node.stop();
  await bridge.stop();
}

const today = () => new Date(Date.now() + 8 * 3_600_000).toISOString().slice(0, 10);

async function startWorld(side: Side, { url, database }: FreshDatabase): Promise<World> {
  const [port, bridgePort] = [await freePort(), await freePort()];
  const masterKey = randomBytes(32);
  const bridgeUrl = `http://127.0.0.1:${bridgePort}`;
  const ofOperator = operatorOn(database, { vault: openVault([masterKey]) });
  const { channel, key } = await bridgedChannel(ofOperator, side.paymentChannelCode, bridgeUrl);
  const gateway = createBridgeGateway({ url: bridgeUrl, key: Buffer.from(key, 'base64'), clock: systemClock });
  return {
    side,
    database,
    operator: { ...ofOperator, clock: tomorrow, gateways: { of: async () => gateway, close: () => gateway.close() } },
    client: clientOf(port, channel),
    bridge: await startBridge(side, { DATABASE_URL: url, PORT: String(bridgePort) }, key, port),
    node: keptAlive({
      DATABASE_URL: url,
      MASTER_KEY: masterKey.toString('base64'),
      PORT: String(port),
      LOG_LEVEL: 'silent',
    }),
  };
}

const clientOf = (port: number, channel: ChannelCredentials) => channelClient(`http://127.0.0.1:${port}`, channel);

/** Starts the bridge as an operator does, with kills at the named points. */
async function startBridge(
  side: Side,
  env: { readonly DATABASE_URL: string; readonly PORT: string },
  key: string,
  servicePort: number,
): Promise<KeptAlive> {
  const { bridge, paymentChannelCode, settings } = side;
  const folder = await temporaryFolder();
  const write = async (name: string, text: string): Promise<string> => {
    const file = path.join(folder, name);
    await writeFile(file, text);
    return file;
  };
  return keptAlive(
    {
      ...env,
      NODE_OPTIONS: `--import=${DYING}`,
      KILLS: [...debitKills(side), ...REFUND_KILLS].join(),
      BRIDGE_KEY_FILE: await write('bridge.key', key),
      MONITORING_PORT: '0',
      NOTICE_URL: `http://127.0.0.1:${servicePort}/gateway/v1/notices/${paymentChannelCode}`,
      LOG_LEVEL: 'error',
      ...(await settings(write, `http://127.0.0.1:${env.PORT}/webhooks`)),
    },
    fileURLToPath(new URL(`../../../${bridge}/dist/main.js`, import.meta.url)),
  );
}

async function createOrders({ side, client }: World): Promise<void> {
  const queue = Array.from({ length: side.orders }, (_, n) => n);
  const create = (n: number): Promise<Reply> => {
    const user = `user-${n}`;
    const point = n % 8 === 5 ? servicePoints(side)[Math.floor(n / 8)] : undefined;
    const { paymentChannelCode } = side;
    const sharedAgreementNo = side.agree(n);
    const body = {
      channelUserId: user,
      externalOrderNo: `crash-${n}${point === undefined ? '' : `-KILL-${point}`}`,
      productCode: PRODUCT.productCode,
      sharedAgreement: sharedAgreement(client, user, { paymentChannelCode, sharedAgreementNo }),
    };
    return untilAnswered(client, 'orders/create', sharedRequest(client, body), `key-${n}`);
  };
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (let n = queue.shift(); n !== undefined; n = queue.shift()) await create(n);
    }),
  );
}

/** Waits until no debit or refund is open. Makes the queries of the service and of the bridge due now. */
async function settled({ database, bridge, node }: World, table: 'debit_attempts' | 'refunds'): Promise<void> {
  const ofBridge = table === 'refunds' ? 'bridge.refunds' : 'bridge.debits';
  await until(
    `all of ${table} known`,
    async () => {
      // Waits until bridge and service run, because requests to a process that is starting only delay its start.
      await Promise.all([bridge.serves(), node.serves()]);
      await database.query(`update ${ofBridge} set ask_at = 0 where state <> 'SETTLED' and ask_at > 0`);
      await database.query(`update ${table} set ask_at = now() where ask_at > now()`);
      return (await database.query(`select from ${table} where status = 'STARTED'`)).length === 0;
    },
    150_000,
  );
}

async function killedAt({ database, bridge }: World, kills: readonly string[]): Promise<void> {
  await until(`the bridge was killed ${kills.length} times`, () => bridge.kills() >= kills.length);
  const made = await database.query<{ what: string }>('select at_what as what from test_bridge_kills');
  expect(made.map(({ what }) => what)).toEqual(kills);
}

async function refundSome({ side, database, operator }: World): Promise<void> {
  const paid = await database.query<{ orderNo: string }>(
    `select order_no::text as "orderNo" from orders where status = 'ACTIVE' order by order_no limit ${REFUNDS}`,
  );
  expect(paid).toHaveLength(REFUNDS);
  for (const [index, { orderNo }] of paid.entries()) {
    side.disturbRefund(index);
    const part = index % 2 === 0 ? { amountCent: 500 + index } : {};
    await refundPayment(operator, { orderNo, cycleNo: 1, ...part });
  }
}

async function noticesTaken({ database }: World): Promise<void> {
  await until(
    'no notice is owed',
    async () => {
      await database.query('update bridge.notices set send_at = 0 where ended is null');
      return (await database.query('select from bridge.notices where ended is null')).length === 0;
    },
    60_000,
  );
}

/** Compares the institution's ledger with the service's records. */
async function compareLedgers({ side, database }: World): Promise<void> {
  const rows = await database.query<{
    n: number;
    attemptNo: string;
    status: string;
    paid: number;
    attempts: number;
    refunds: readonly number[];
  }>(
    `select split_part(o.external_order_no, '-', 2)::int as n, o.order_no || '000101' as "attemptNo", o.status,
       o.paid_amount_cent as paid, (select count(*) from debit_attempts a where a.order_no = o.order_no) as attempts,
       array(select r.amount_cent::int from refunds r where r.order_no = o.order_no and r.status = 'SUCCESS') as refunds
     from orders o`,
  );
  expect(rows).toHaveLength(side.orders);
  const ledger = side.ledger();
  for (const { n, attemptNo, status, paid, attempts, refunds } of rows) {
    const isPaid = side.isPaid(n);
    const booked = ledger.get(attemptNo) ?? { debits: [], refunds: [] };
    expect({ n, paid, attempts }).toEqual({ n, paid: isPaid ? PRODUCT.amountCent : 0, attempts: 1 });
    expect({ n, ...booked }).toEqual({ n, debits: isPaid ? [paid] : [], refunds });
    expect({ n, isEnded: status === 'TERMINATED' && refunds.length === 0 }).toEqual({ n, isEnded: !isPaid });
  }
  const known = new Set(rows.map(({ attemptNo }) => attemptNo));
  expect([...ledger.keys()].filter((attemptNo) => !known.has(attemptNo))).toEqual([]);
  expect(rows.flatMap(({ refunds }) => refunds)).toHaveLength(REFUNDS);
}
