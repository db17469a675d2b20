import { afterAll, beforeAll, expect, it } from 'vitest';
import { renewDueOrders } from '../../src/engine/jobs/renewals.js';
import { OperatorError } from '../../src/operator/operator.js';
import { cancelAgreement } from '../../src/operator/orders/agreements.js';
import { boundRequest } from '../orders/stage-of-file.js';
import { agreementOf, paid, type Stage, stage } from '../orders/support.js';
import { attemptNoOf, declined, type EngineNode, engineNode } from '../renewals/support.js';
import { watchAttempts } from '../support/attempts-watch.js';
import { type ChannelClient, type Reply, send } from '../support/channel-client.js';
import { databaseClock } from '../support/database-clock.js';
import { bindCard, sharedAgreement, sharedRequest, unique } from '../support/demo.js';
import { anotherNode, type Node } from '../support/second-node.js';
import { soakSize } from '../support/soak.js';

/**
 * Concurrently creates, renews and unsubscribes orders, and replaces and ends their agreements, on a few agreement
 * numbers that many orders share. There must be no deadlock, and no order may run or be debited on an agreement that
 * has ended.
 */

const ROUNDS = soakSize('ENDING_ROUNDS', 8, 12);

let on: Stage;
let nodes: Node[];
let engine: EngineNode;
let notBound: () => Promise<string[]>;
beforeAll(async () => {
  on = await stage();
  const gateways = { of: async () => on.institution };
  nodes = [await anotherNode(on.service, { gateways }), await anotherNode(on.service, { gateways })];
  // The engine's clock, at which the second period of every order is due.
  engine = engineNode(on, {}, (await databaseClock(on.service.fresh, Date.UTC(2026, 2, 15))).url);
  notBound = await watchAttempts(on.service.fresh.database);
});
afterAll(() => on.close());

const times = <T>(count: number, work: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => work(n));
const nodeOf = (n: number): Node => nodes[n % nodes.length] as Node;

it('endings, unsubscriptions, replacements, creations and renewals on the same numbers', async () => {
  const { database } = on.service.fresh;
  const codes = new Set<string>();
  const heard = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const clients = nodes.map((node) => node.client(on.channel));
    const by = (n: number): ChannelClient => clients[n % clients.length] as ChannelClient;
    const call = async (n: number, name: string, body: object) => {
      const { code } = await by(n).call(name, body);
      codes.add(code);
    };
    const notice = async (n: number, message: object) => {
      const path = '/gateway/v1/notices/MOCKPAY';
      const reply: Reply = await send(nodeOf(n).baseUrl, 'POST', path, {}, Buffer.from(JSON.stringify(message)));
      heard.add(String(reply.status));
    };

    // Creates two agreement numbers with two bindings each. Each order on a shared agreement gets its own agreement
    // with one of these numbers.
    const numbers = [unique('number'), unique('number')];
    const bindings: string[] = [];
    for (const institutionNo of [...numbers, ...numbers]) {
      on.institution.confirmBind = async () => ({ kind: 'bound', institutionNo });
      bindings.push(await bindCard(on.channel, unique('user')));
    }
    const bindRequest = (n: number) => boundRequest(bindings[n % bindings.length] ?? '');
    const users = new Map<string, string>();
    const shareRequest = (n: number) => {
      const channelUserId = unique('user');
      const sharedAgreementNo = numbers[n % numbers.length];
      const agreement = sharedAgreement(on.channel, channelUserId, { sharedAgreementNo });
      return sharedRequest(on.channel, { channelUserId, sharedAgreement: agreement });
    };
    on.institution.onDebit = async (debit) => paid(debit);
    const bound = await Promise.all(
      times(8, async (n) => (await by(n).call('orders/create', bindRequest(n))).data.orderNo),
    );
    const shared = await Promise.all(
      times(8, async (n) => {
        const request = shareRequest(n);
        const { orderNo } = (await by(n).call('orders/create', request)).data;
        users.set(orderNo, request.channelUserId);
        return orderNo as string;
      }),
    );
    // Half of the orders are being debited. The other half falls due while the round runs.
    on.institution.onDebit = async () => ({ kind: 'pending' });
    const half = [...bound.slice(4), ...shared.slice(4)];
    await database.query(`update orders set next_due_at = next_due_at + interval '1 year' where order_no = any($1)`, [
      half,
    ]);
    await renewDueOrders(engine.deps, { code: 'MOCKPAY', debitsPerSecond: null });
    await database.query(`update orders set next_due_at = next_due_at - interval '1 year' where order_no = any($1)`, [
      half,
    ]);

    const { agreement_no: agreementNo } = await agreementOf(database, shared[round % shared.length] ?? '');
    const operator = { ...on.service.operator, database: engine.deps.database, clock: on.service.clock };
    await Promise.all([
      ...[...bound.slice(0, 4), ...shared.slice(0, 4)].toReversed().map((orderNo, n) => {
        const attemptNo = attemptNoOf(orderNo, 2, 1);
        const outcome = (n + round) % 3 === 0 ? declined('agreement-invalid') : declined('retryable');
        return notice(n, { kind: 'debit', attemptNo, outcome });
      }),
      ...[bound[5], shared[6], bound[1], shared[2]].map((orderNo, n) => call(n, 'orders/unsubscribe', { orderNo })),
      ...[shared[7], shared[1], shared[4]].map((orderNo = '', n) => {
        const sharedAgreementNo = numbers[(n + round) % numbers.length];
        const newSharedAgreement = sharedAgreement(on.channel, users.get(orderNo) ?? '', { sharedAgreementNo });
        return call(n, 'agreements/replace', { orderNo, newSharedAgreement });
      }),
      ...times(8, (n) => call(n, 'orders/create', n % 2 === 0 ? bindRequest(7 - n) : shareRequest(n))),
      ...(round % 2 === 0
        ? [notice(0, { kind: 'agreement-canceled', institutionNo: numbers[round % 4 === 0 ? 0 : 1], reason: 'closed' })]
        : []),
      ...(round % 3 === 0
        ? [
            cancelAgreement(operator, { agreementNo }).catch((error: unknown) => {
              if (!(error instanceof OperatorError)) throw error;
            }),
          ]
        : []),
      renewDueOrders(engine.deps, { code: 'MOCKPAY', debitsPerSecond: null }),
    ]);
    const stranded = await database.query(
      `select o.order_no, g.status from orders o join agreements g using (agreement_id)
       where o.status = 'ACTIVE' and g.status <> 'BIND_SUCCESS'`,
    );
    expect(stranded, `round ${round}`).toEqual([]);
    // Gives open debits their result before the next round.
    on.institution.onQuery = async (debit) => paid(debit);
    await on.askPending();
  }
  expect(await notBound()).toEqual([]);
  expect([...heard]).toEqual(['200']);
  expect([...codes].filter((code) => !['0', '410002', '420003', '420008'].includes(code))).toEqual([]);

  // Closes the nodes first, because a connection reports its last statistics when it is closed.
  await Promise.all([...nodes.map((node) => node.close()), engine.close()]);
  const [seen] = await database.query('select deadlocks from pg_stat_database where datname = current_database()');
  expect(seen).toEqual({ deadlocks: 0 });
});
