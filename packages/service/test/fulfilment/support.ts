import type { Channel } from '../../src/catalog/channels/channel.js';
import { type ChannelRegistry, createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import { askAboutPendingClaims, serveWaitingClaims } from '../../src/engine/recovery/claims.js';
import { createFulfilmentRegistry } from '../../src/fulfilment/fulfilment-registry.js';
import type { OperatorWithClock } from '../../src/operator/operator.js';
import { type ImportedCodes, importCodes } from '../../src/operator/provisioning/benefits.js';
import { type Database, openDatabase } from '../../src/platform/db/database.js';
import { unsealClaimCode } from '../../src/subscriptions/domain/benefits/claim-code.js';
import { type BenefitReference, formatClaimNo } from '../../src/subscriptions/domain/benefits/claim-numbers.js';
import { type ClaimOutcome, createClaimer } from '../../src/subscriptions/steps/benefits/claim-benefit.js';
import { type CapturedLog, capturedLog } from '../support/captured-log.js';
import type { ChannelClient } from '../support/channel-client.js';
import { collectRequest, demoChannel } from '../support/demo.js';
import { type TestService, testService } from '../support/service.js';

/** A node as far as claims go: its own connections and memory. */
export interface ClaimingNode {
  claim(channel: Channel, benefit: BenefitReference): Promise<ClaimOutcome>;
  readonly channel: Channel;
  /** One turn of the job about suppliers: of claims whose turn it is. */
  ask(benefitCode: string): Promise<number>;
  serve(): Promise<number>;
  close(): Promise<void>;
}

export interface ClaimStage {
  readonly service: TestService;
  readonly database: Database;
  readonly operator: OperatorWithClock;
  readonly client: ChannelClient;
  readonly log: CapturedLog;
  readonly node: ClaimingNode;
  /** With another deadline for suppliers than their own, if one is given. */
  anotherNode(more?: { readonly deadlineMs: number }): Promise<ClaimingNode>;
  /** A new order in mode B: VIP_PASS at position 1, COUPON at 2. */
  order(more?: Record<string, unknown>): Promise<number>;
  benefit(position: number): Promise<BenefitReference>;
  /** The code of a claim as a user would see it; nothing while there is none. */
  codeOf(benefit: BenefitReference): Promise<string | undefined>;
  import(benefitCode: string, text: string): Promise<ImportedCodes>;
  alerts(): Promise<{ kind: string; subject: string; seen: number }[]>;
  close(): Promise<void>;
}

export async function claimStage(): Promise<ClaimStage> {
  const service = await testService();
  const { fresh, vault, clock } = service;
  const { database } = fresh;
  const client = await demoChannel(service);
  const log = capturedLog();
  const operator = { ...service.operator, clock };

  async function nodeOn(own: Database, end: () => Promise<void>, more = {}): Promise<ClaimingNode> {
    const fulfilments = createFulfilmentRegistry({ database: own, vault, clock, log: log.log, ...more });
    const channels: ChannelRegistry = createChannelRegistry(own, vault);
    const channel = await channels.get(client.credentials.appId);
    if (!channel) throw new Error('the demo channel is there');
    const deps = { database: own, clock, log: log.log, fulfilments };
    const claim = createClaimer(deps);
    return {
      claim: (...asked) => claim(own, ...asked),
      channel,
      ask: (benefitCode) => askAboutPendingClaims({ ...deps, channels }, benefitCode),
      serve: () => serveWaitingClaims({ ...deps, vault }),
      async close() {
        await fulfilments.close();
        await end();
      },
    };
  }

  const node = await nodeOn(database, async () => undefined);
  const order = async (more: Record<string, unknown> = {}) => {
    const reply = await client.call('orders/create', collectRequest(client, more));
    if (reply.code !== '0') throw new Error(`orders/create answered ${reply.text}`);
    return Number(reply.data.orderNo);
  };
  return {
    service,
    database,
    operator,
    client,
    log,
    node,
    order,
    async anotherNode(more) {
      const own = openDatabase({ url: fresh.url, pool: 16, name: 'another node' });
      return nodeOn(own, () => own.close(), more);
    },
    benefit: async (position) => ({ orderNo: await order(), cycleNo: 1, position }),
    async codeOf(benefit) {
      const [row] = await database.query<{ code: string | null }>(
        'select code from claims where order_no = $1 and cycle_no = $2 and position = $3',
        [benefit.orderNo, benefit.cycleNo, benefit.position],
      );
      return row?.code ? unsealClaimCode(node.channel, formatClaimNo(benefit), row.code) : undefined;
    },
    import: (benefitCode, text) => importCodes(operator, { benefitCode, file: fileOf(text) }),
    alerts: () => database.query('select kind, subject, seen from alerts order by kind, subject'),
    async close() {
      await node.close();
      await service.close();
    },
  };
}

export async function* fileOf(text: string | Uint8Array): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
