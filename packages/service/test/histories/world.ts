import { randomBytes } from 'node:crypto';
import type { FaultOccasion } from '@perennial/reference-peers';
import { createAccessTokens } from '../../src/catalog/channels/access-token.js';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import type {
  DebitOutcome,
  DebitQuery,
  Gateway,
  NotFound,
  RefundOutcome,
  RefundQuery,
} from '../../src/gateways/gateway.js';
import type { Operator, OperatorWithGateways } from '../../src/operator/operator.js';
import { setLimits } from '../../src/operator/provisioning/channel-settings.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { authorizePaymentChannel } from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { createPaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import type { Clock } from '../../src/platform/clock.js';
import type { Database } from '../../src/platform/db/database.js';
import { openVault } from '../../src/platform/secrets/vault.js';
import { watchAttempts } from '../support/attempts-watch.js';
import { type ChannelClient, channelClient, type Reply, send } from '../support/channel-client.js';
import { type Bank, openBank } from './bank.js';
import { type Crash, type DoomedNode, startNode } from './node.js';
import { type Product, required } from './order.js';
import type { DebitFault, QueryFault, RefundFault } from './steps.js';
import { historyTime } from './time.js';

export const BANKS = ['BANK_A', 'BANK_B'] as const;
const HOUR = 3600;
const DAY = 24 * HOUR;
/** The day from which the first day of each history is counted. */
export const START = Date.UTC(2027, 0, 1);

const PASS = { benefitCode: 'PASS', name: 'Pass', faceValueCent: 900 };
const COUPON = { benefitCode: 'COUPON', name: 'Coupon', faceValueCent: 300 };
const GIFT = { benefitCode: 'GIFT', name: 'Gift', faceValueCent: 200 };
export const PRODUCTS: readonly Product[] = [
  product('MONTHLY', 'MONTH', 1, 4, 1990, [DAY, 3 * DAY], [PASS, COUPON, GIFT]),
  product('DAILY', 'DAY', 1, 5, 100, [HOUR], [{ ...PASS, faceValueCent: 100 }]),
  product('TIGHT', 'DAY', 1, 3, 500, [20 * HOUR, 20 * HOUR], [PASS, { ...COUPON, faceValueCent: 500 }]),
  product('ONCE', 'MONTH', 1, 1, 700, [DAY], [COUPON, GIFT]),
];

/** The faults of the institutions in this step. */
export interface Plan {
  /**
   * Returns the fault for a debit of this order when it arrives for the first time. `nth` counts the order's debits in
   * this step, from 0.
   */
  debit(orderNo: number, nth: number): DebitFault;
  readonly refund: RefundFault;
  readonly query: QueryFault;
}
export const NOTHING_WRONG: Plan = { debit: () => undefined, refund: undefined, query: undefined };

/** An outcome that the service received from an institution, as an answer or a notice, with the time of receipt. */
export interface Heard {
  readonly number: string;
  readonly at: number;
  readonly outcome: DebitOutcome | RefundOutcome | NotFound;
  /** The number of the newest order at this time. Undefined for a notice: no order is created in its step. */
  readonly newestOrderNo?: number;
}

/** One installation with two institutions and one channel. All of them use the simulated time of a history. */
export interface World {
  readonly clock: Clock;
  readonly database: Database;
  readonly banks: ReadonlyMap<string, Bank>;
  readonly channel: ChannelClient;
  /** Since the step began. */
  readonly heard: Heard[];
  node(): DoomedNode;
  operator(): OperatorWithGateways;
  moveTo(now: number): Promise<void>;
  begin(plan: Plan, crash: Crash | undefined): void;
  /** From now on the node can die at the step's crash point. What a step does before this call is undisturbed. */
  arm(): void;
  /** Of the debits stored since the last call, returns those whose agreement was not bound when they were stored. */
  attemptsNotBound(): Promise<string[]>;
  /** Starts a new node if the current node has died. Returns whether it had died. */
  revive(): Promise<boolean>;
  /** Calls an endpoint as the channel, with `raw` or the body's JSON. Returns undefined if the node died during the call. */
  call(name: string, body: object, key?: string, raw?: string): Promise<Reply | undefined>;
  notice(code: string, notice: Parameters<Bank['signed']>[1]): Promise<Reply | undefined>;
  close(): Promise<void>;
}

export async function openWorld(): Promise<World> {
  const time = await historyTime(START);
  const { clock, database } = time;
  const heard: Heard[] = [];
  let plan = NOTHING_WRONG;
  let arrivals = new Map<number, number>();
  let askedWrongly = false;
  let planned: Crash | undefined;

  function fault({ operation, number = '', first }: FaultOccasion) {
    if (operation === 'refund') return first ? plan.refund : undefined;
    if (operation === 'debit-query' && !askedWrongly) {
      askedWrongly = true;
      return plan.query;
    }
    if (operation !== 'debit' || !first) return undefined;
    const orderNo = Number(number.slice(0, -6));
    const nth = arrivals.get(orderNo) ?? 0;
    arrivals.set(orderNo, nth + 1);
    return plan.debit(orderNo, nth);
  }

  const attemptsNotBound = await watchAttempts(database);
  const banks = new Map<string, Bank>();
  for (const code of BANKS) banks.set(code, await openBank(clock, fault));
  const gateways = new Map(
    [...banks].map(([code, { gateway }]) => [code, listenedTo(gateway, heard, clock, database)]),
  );
  const vault = openVault([randomBytes(32)]);
  const operator: Operator = { database, vault, environment: 'sandbox', actor: 'history' };
  const credentials = await provision(operator);
  const deps = { database, gateways, vault, clock };
  const ended: Promise<unknown>[] = [];
  let node = await startNode(deps);
  let channel = channelClient(node.baseUrl, credentials, () => clock.now());

  /** Issues a token per request, as auth/token would, because a token lasts two hours and a history lasts years. */
  const owner = required(await createChannelRegistry(database, vault).get(credentials.appId));
  const { issue } = createAccessTokens(vault, clock);

  const answered = async (reply: Reply) => {
    if (reply.status < 500) return reply;
    if (node.dead) return undefined;
    throw new Error(
      `a node that lives answered ${reply.text}: ${await node.whyUnavailable(reply.envelope?.requestId)}`,
    );
  };
  return {
    clock,
    database,
    banks,
    get channel() {
      return channel;
    },
    heard,
    attemptsNotBound,
    node: () => node,
    operator: () => ({ ...operator, database: node.database, gateways: node.gateways, clock }),
    async moveTo(now) {
      await time.moveTo(now);
      for (const bank of banks.values()) bank.runAgenda();
    },
    begin(next, crash) {
      plan = next;
      arrivals = new Map();
      askedWrongly = false;
      heard.length = 0;
      planned = crash;
    },
    arm: () => node.arm(planned),
    async revive() {
      if (!node.dead) {
        node.arm(undefined);
        return false;
      }
      await node.quiet();
      ended.push(node.close());
      node = await startNode(deps);
      channel = channelClient(node.baseUrl, credentials, () => clock.now());
      return true;
    },
    async call(name, body, key, raw) {
      return answered(
        await channel.callBare(name, body, {
          token: issue(owner).accessToken,
          ...(key === undefined ? {} : { idempotencyKey: key }),
          ...(raw === undefined ? {} : { raw }),
        }),
      );
    },
    async notice(code, notice) {
      const path = `/gateway/v1/notices/${code}`;
      const signed = banks.get(code)?.signed(path, notice);
      if (!signed) throw new Error(`there is no bank ${code}`);
      return answered(await send(node.baseUrl, 'POST', path, signed.headers, signed.body));
    },
    async close() {
      await node.close();
      await Promise.all(ended);
      for (const bank of banks.values()) await bank.close();
      await time.close();
    },
  };
}

/** Records an institution's answers about debits and refunds, even if the calling node dies before it receives them. */
function listenedTo(gateway: Gateway, heard: Heard[], clock: Clock, database: Database): Gateway {
  const note = async <Outcome extends Heard['outcome']>(number: string, call: Promise<Outcome>): Promise<Outcome> => {
    const outcome = await call;
    const at = clock.now();
    const [newest] = await database.query<{ orderNo: number | null }>('select max(order_no) as "orderNo" from orders');
    heard.push({ number, at, outcome, newestOrderNo: newest?.orderNo ?? 0 });
    return outcome;
  };
  return {
    ...gateway,
    debit: (request) => note(request.attemptNo, gateway.debit(request)),
    queryDebit: (request: DebitQuery) => note(request.attemptNo, gateway.queryDebit(request)),
    refund: (request) => note(request.refundNo, gateway.refund(request)),
    queryRefund: (request: RefundQuery) => note(request.refundNo, gateway.queryRefund(request)),
  };
}

async function provision(operator: Operator) {
  const channel = await createChannel(operator, { name: 'History' });
  const { appId } = channel;
  await setLimits(operator, { appId, ratePerSecond: 1_000_000, rateBurst: 10_000_000 });
  for (const one of PRODUCTS) {
    await createProduct(operator, {
      ...one,
      productName: one.productCode,
      settlementModes: ['SVC_DEDUCT', 'CHANNEL_COLLECT'],
    });
    await authorizeProduct(operator, { appId, productCode: one.productCode });
  }
  for (const code of BANKS) {
    const displayName = code;
    await createPaymentChannel(operator, { code, gateway: 'sandbox', displayName, supportedBanks: ['*'] });
    await authorizePaymentChannel(operator, { appId, code, shareEnabled: true, isDefault: code === 'BANK_A' });
  }
  return channel;
}

function product(
  productCode: string,
  periodType: Product['periodType'],
  period: number,
  totalCycles: number,
  amountCent: number,
  retryDelays: readonly number[],
  benefits: Product['benefits'],
): Product {
  return { productCode, periodType, period, totalCycles, amountCent, retryDelays, benefits };
}
