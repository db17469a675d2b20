import type { Channel } from '../../src/catalog/channels/channel.js';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import { askAboutPendingClaims, serveWaitingClaims } from '../../src/engine/recovery/claims.js';
import { createFulfilmentRegistry } from '../../src/fulfilment/fulfilment-registry.js';
import { importCodes } from '../../src/operator/provisioning/benefits.js';
import { type Database, openDatabase, type Transactional } from '../../src/platform/db/database.js';
import { unsealClaimCode } from '../../src/subscriptions/domain/benefits/claim-code.js';
import { type BenefitReference, formatClaimNo } from '../../src/subscriptions/domain/benefits/claim-numbers.js';
import { createClaimer } from '../../src/subscriptions/steps/benefits/claim-benefit.js';
import { capturedLog } from '../support/captured-log.js';
import { collectRequest, demoChannel } from '../support/demo.js';
import { testService } from '../support/service.js';

export async function claimStage() {
  const service = await testService();
  const { fresh, vault, clock } = service;
  const { database } = fresh;
  const client = await demoChannel(service);
  const log = capturedLog();
  const operator = { ...service.operator, clock };

  /** Creates the part of a node that handles claims, with its own connections and memory. */
  async function nodeOn(own: Database, end: () => Promise<void>, more = {}) {
    const fulfilments = createFulfilmentRegistry({ ...operator, database: own, log: log.log, ...more });
    const channels = createChannelRegistry(own, vault);
    const channel = await channels.get(client.credentials.appId);
    if (!channel) throw new Error('the demo channel is there');
    const deps = { database: own, clock, log: log.log, fulfilments };
    const claim = createClaimer(deps);
    return {
      claim: (of: Channel, benefit: BenefitReference, through: Transactional = own) => claim(through, of, benefit),
      channel,
      /** Runs one turn of the job that queries the supplier about the pending claims that are due. */
      ask: (benefitCode: string) => askAboutPendingClaims({ ...deps, channels }, benefitCode),
      serve: () => serveWaitingClaims({ ...deps, vault }),
      async close() {
        await fulfilments.close();
        await end();
      },
    };
  }

  const node = await nodeOn(database, async () => undefined);
  /** Creates an order in mode B. Its benefits are VIP_PASS at position 1 and COUPON at position 2. */
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
    /** Creates another node. `deadlineMs` replaces the default deadline for suppliers. */
    async anotherNode(more?: { readonly deadlineMs: number }) {
      const own = openDatabase({ url: fresh.url, pool: 16, name: 'another node' });
      return nodeOn(own, () => own.close(), more);
    },
    benefit: async (position: number): Promise<BenefitReference> => ({ orderNo: await order(), cycleNo: 1, position }),
    /** Returns the code of a claim as the user sees it, or undefined if the claim has no code. */
    async codeOf(benefit: BenefitReference): Promise<string | undefined> {
      const [row] = await database.query<{ code: string | null }>(
        'select code from claims where order_no = $1 and cycle_no = $2 and position = $3',
        [benefit.orderNo, benefit.cycleNo, benefit.position],
      );
      return row?.code ? unsealClaimCode(node.channel, formatClaimNo(benefit), row.code) : undefined;
    },
    import: (benefitCode: string, text: string) => importCodes(operator, { benefitCode, file: fileOf(text) }),
    alerts: () =>
      database.query<{ kind: string; subject: string; seen: number }>(
        'select kind, subject, seen from alerts order by kind, subject',
      ),
    async close() {
      await node.close();
      await service.close();
    },
  };
}

export async function* fileOf(text: string | Uint8Array): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
