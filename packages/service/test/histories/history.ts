import { isDeepStrictEqual } from 'node:util';
import { formatAttemptNo } from '../../src/subscriptions/domain/orders/order-numbers.js';
import { formatRefundNo } from '../../src/subscriptions/domain/orders/refund-numbers.js';
import type { Reply } from '../support/channel-client.js';
import { type Circumstances, type Gone, reachable } from './expected.js';
import { brokenEvents, brokenLedger, brokenSums } from './invariants.js';
import { observe, type Shown, type StoredOrder, shownModel, shownStored } from './observe.js';
import { nameOf, type OrderModel, runsOn } from './order.js';
import { seen, viewOf } from './view.js';
import { BANKS, type World } from './world.js';

/** An order of a history: its model and its last observed state. */
export interface Tracked {
  readonly orderNo: number;
  model: OrderModel;
  /** Whether the order's agreement had ended after the previous step. It can end through another order. */
  agreementEnded: boolean;
  /**
   * True if the order's card was bound again after the order had ended. Its agreement is then replaced, without an
   * effect on the order.
   */
  agreementReplaced: boolean;
  /** The expected alerts about attempts for which the institution reported contradictory results. */
  readonly contradictions: Set<string>;
}

/** An acknowledged write: a resend must get the same answer. */
export interface Acknowledged {
  readonly name: string;
  readonly body: object;
  readonly key: string;
  readonly code: string;
  readonly data: unknown;
  readonly at: number;
}

export interface Binding {
  readonly bindOrderNo: string;
  readonly paymentChannelCode: string;
  readonly institutionNo: string;
}

/** An agreement that ended because a debit was declined, with the attempt number and the order of that debit. */
interface Declined extends Gone {
  readonly number: string;
  readonly orderNo: number;
  /** The number of the newest order when the decline was received. A later order has a new agreement. */
  readonly newestOrderNo: number;
}

/** The history so far, and the checks after each step. */
export class History {
  readonly orders: Tracked[] = [];
  readonly acknowledged: Acknowledged[] = [];
  binding: Binding | undefined;
  /** The number of times that an agreement with more than one order has ended. */
  endedTogether = 0;
  /** Agreements that ended at the institution, whether the bank or an operator ended them. */
  readonly gone = new Set<string>();
  /**
   * After an undisturbed step: the numbers of the attempts and refunds that were due to be queried. An institution must
   * have answered about each of them, and about every new debit. Otherwise undefined.
   */
  mustBeHeard: readonly string[] | undefined;
  #serial = 0;
  /** The time at which the engine last ran in this step. */
  #ranAt: number | undefined;

  constructor(
    readonly world: World,
    readonly user: string,
  ) {}

  unique(what: string): string {
    this.#serial += 1;
    return `${this.user}-${what}-${this.#serial}`;
  }

  track(orderNo: number, model: OrderModel): Tracked {
    const tracked: Tracked = {
      orderNo,
      model,
      agreementEnded: false,
      agreementReplaced: false,
      contradictions: new Set(),
    };
    this.orders.push(tracked);
    return tracked;
  }

  acknowledge(reply: Reply, name: string, body: object, key: string | undefined): void {
    if (key === undefined || reply.status !== 200) return;
    const { code, data } = reply;
    this.acknowledged.push({ name, body, key, code, data, at: this.world.clock.now() });
  }

  /** Runs each of the engine's jobs one time. After that, everything that was due may have happened to any order. */
  async engineTurn(): Promise<void> {
    this.#ranAt = this.world.clock.now();
    await this.world.node().turn(BANKS);
    await this.world.node().quiet();
  }

  /** Returns the possible states of an order after the institutions' answers in this step. */
  follow({ orderNo, agreementEnded }: Tracked, from: OrderModel) {
    const { heard } = this.world;
    const gone = this.#declined().filter((one) => one.orderNo !== orderNo);
    const circumstances: Circumstances = { orderNo, heard, ranAt: this.#ranAt, agreementEnded, gone };
    return reachable(from, circumstances);
  }

  /** Checks that every order is in a possible state, and all other invariants. */
  async check(expected: ReadonlyMap<Tracked, readonly OrderModel[]>): Promise<void> {
    const { database, banks } = this.world;
    const orderNos = this.orders.map(({ orderNo }) => orderNo);
    const [stored, ...wrong] = await Promise.all([
      observe(database, orderNos),
      brokenSums(database, orderNos),
      this.world.attemptsNotBound(),
    ]);
    const broken = wrong.flat();
    const changed: Tracked[] = [];
    const unsubscribed: string[] = [];
    const declined = this.#declined();
    for (const { name } of declined) this.gone.add(name);
    const answered = new Set(this.world.heard.map(({ number }) => number));
    // Computes the possible states of all orders before any model advances, because a settled decline of one order also
    // ends other orders.
    const possibleOf = new Map(
      this.orders.map((tracked) => [tracked, expected.get(tracked) ?? this.follow(tracked, tracked.model).all]),
    );
    for (const tracked of this.orders) {
      const order = stored.get(tracked.orderNo);
      if (!order) throw new Error(`order ${tracked.orderNo} is lost`);
      const possible = possibleOf.get(tracked) ?? [];
      const actual = shownStored(order);
      const model = possible.find((one) => isDeepStrictEqual(shownModel(one), actual));
      if (!model) throw new Error(`order ${tracked.orderNo} is none of what it may be${differences(possible, actual)}`);
      if (tracked.model !== model || expected.has(tracked)) changed.push(tracked);
      if (this.mustBeHeard) {
        const begun = model.attempts.slice(expected.has(tracked) ? tracked.model.attempts.length : 0);
        const numbers = begun.map((one) => formatAttemptNo(tracked.orderNo, one.cycleNo, one.tryNo));
        const unheard = numbers.filter((number) => !answered.has(number));
        if (unheard.length > 0) broken.push(`the institution has heard nothing of ${unheard}`);
      }
      if (tracked.model.status === 'ACTIVE' && model.status === 'UNSUBSCRIBED') unsubscribed.push(runsOn(model) ?? '');
      tracked.model = model;
      tracked.agreementEnded = order.agreementStatus === 'CANCELED';
      if (tracked.agreementEnded && this.#needsAgreement(model)) {
        broken.push(`order ${order.orderNo}: its agreement was canceled under it`);
      }
      broken.push(...brokenLedger(order, model, banks), ...brokenEvents(order), ...brokenAlerts(order, tracked));
    }
    const unheard = (this.mustBeHeard ?? []).filter((number) => !answered.has(number));
    if (unheard.length > 0) broken.push(`the institution was not asked about ${unheard}`);
    broken.push(...this.#outlived(declined));
    this.endedTogether += unsubscribed.length > new Set(unsubscribed).size ? 1 : 0;
    this.mustBeHeard = undefined;
    this.#ranAt = undefined;
    if (broken.length > 0) throw new Error(broken.join('\n'));
    await Promise.all(changed.map((tracked) => this.#checkView(tracked)));
  }

  /** Returns whether the order continues and its agreement has not ended at the institution. */
  #needsAgreement(order: OrderModel): boolean {
    const goesOn = order.status === 'ACTIVE' || order.status === 'INITIALIZING';
    return goesOn && !this.gone.has(runsOn(order) ?? '');
  }

  /**
   * Returns the agreements that an institution called invalid in this step, in its answer to a debit that had no result
   * before.
   */
  #declined(): Declined[] {
    const known = new Set(
      this.orders.flatMap(({ orderNo, model }) =>
        model.attempts
          .filter(({ status }) => status !== 'STARTED')
          .map(({ cycleNo, tryNo }) => formatAttemptNo(orderNo, cycleNo, tryNo)),
      ),
    );
    return this.world.heard.flatMap(({ number, outcome, at, newestOrderNo = Number.POSITIVE_INFINITY }) => {
      if (outcome.kind !== 'declined' || outcome.decline !== 'agreement-invalid' || known.has(number)) return [];
      return [...this.world.banks].flatMap(([paymentChannelCode, { ledger }]) => {
        const debit = ledger.debits.get(number);
        if (!debit) return [];
        const name = nameOf({ paymentChannelCode, institutionNo: debit.institutionNo });
        return [{ name, at, number, orderNo: Number(number.slice(0, -6)), newestOrderNo }];
      });
    });
  }

  /** Returns orders that are active although a settled decline of this step has ended their agreement. */
  #outlived(declined: readonly Declined[]): string[] {
    const isSettled = ({ orderNo, number }: Declined) =>
      this.orders.some(
        (tracked) =>
          tracked.orderNo === orderNo &&
          tracked.model.attempts.some(
            ({ cycleNo, tryNo, status }) => status === 'FAIL' && formatAttemptNo(orderNo, cycleNo, tryNo) === number,
          ),
      );
    const ended = declined.filter(isSettled);
    return this.orders
      .filter(({ model }) => model.status === 'ACTIVE')
      .filter(({ orderNo, model }) =>
        ended.some(({ name, newestOrderNo }) => name === runsOn(model) && orderNo <= newestOrderNo),
      )
      .map(({ orderNo }) => `order ${orderNo}: its agreement has ended, and it is active`);
  }

  async #checkView({ orderNo, model }: Tracked): Promise<void> {
    const reply = await this.world.call('orders/query', { orderNo: String(orderNo) });
    if (reply?.code !== '0') throw new Error(`orders/query answered ${reply?.text}`);
    const shown = seen(reply.data);
    const view = viewOf(model, orderNo, this.world.clock.now());
    if (!isDeepStrictEqual(shown, view)) {
      throw new Error(`orders/query shows\n${JSON.stringify(shown)}\nin place of\n${JSON.stringify(view)}`);
    }
  }
}

/** Compares the order, line by line, with the last possible state, which is the most likely one. */
function differences(possible: readonly OrderModel[], actual: Shown): string {
  const last = possible.at(-1);
  if (!last) return ': nothing was possible';
  const lines = ({ order, ...lists }: Shown) => [order, ...Object.values(lists).flat()];
  const wanted = lines(shownModel(last));
  const found = lines(actual);
  return [
    ` (${possible.length})`,
    ...wanted.filter((line) => !found.includes(line)).map((line) => `- ${line}`),
    ...found.filter((line) => !wanted.includes(line)).map((line) => `+ ${line}`),
  ].join('\n');
}

/** Checks that the alerts are exactly the expected ones. */
function brokenAlerts({ orderNo, alerts }: StoredOrder, tracked: Tracked): string[] {
  const { model, contradictions } = tracked;
  const ended = model.told.findIndex((line) => line.includes(' order UNSUBSCRIBED,'));
  const late =
    ended < 0 ? [] : model.told.slice(ended).flatMap((line) => line.match(/ payment (\d+) SUCCESS,/)?.[1] ?? []);
  const expected = [
    ...late.map((cycleNo) => {
      const paid = model.attempts.find((one) => one.cycleNo === Number(cycleNo) && one.status === 'SUCCESS');
      return `debit-after-unsubscribe ${formatAttemptNo(orderNo, Number(cycleNo), paid?.tryNo ?? 0)}`;
    }),
    ...model.refunds
      .filter(({ status }) => status === 'FAIL')
      .map((refund) => `refund-refused ${formatRefundNo({ orderNo, ...refund })}`),
    ...contradictions,
  ];
  const missing = expected.filter((alert) => !alerts.includes(alert));
  const surplus = alerts.filter((alert) => !expected.includes(alert));
  return [
    ...missing.map((alert) => `order ${orderNo}: no alert ${alert}`),
    ...surplus.map((alert) => `order ${orderNo}: alert ${alert} without a reason`),
  ];
}
