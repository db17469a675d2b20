import { encryptField, type SharedAgreement } from '@perennial/wire';
import { RENEWAL_LEASE_SECONDS } from '../subscriptions/domain/payments/debit-policy.js';
import { createDebitRequest, sendDebit } from '../subscriptions/steps/payments/send-debit.js';
import { settleDebit } from '../subscriptions/steps/payments/settle-debits.js';
import { findBindingInForce } from '../subscriptions/store/agreements/agreements-sql.js';
import { unsealInstitutionNo } from '../subscriptions/store/agreements/card.js';
import { billOrder } from '../subscriptions/store/orders/bill-orders-sql.js';
import { expireAndComplete } from '../subscriptions/store/orders/expire-and-complete-sql.js';
import { findOrderStanding } from '../subscriptions/store/orders/order-standing-sql.js';
import { lockOrderByNumber } from '../subscriptions/store/orders/orders-sql.js';
import { startRenewals } from '../subscriptions/store/orders/start-renewals-sql.js';
import { scheduleDebitQuestion } from '../subscriptions/store/payments/attempts-sql.js';
import { BANKS, PRODUCTS, type ProductName } from './cast.js';
import type { OrderFate } from './institution.js';
import { encryptCard, type StoryCard } from './interface-calls.js';
import type { Provisioned, StagedChannel } from './provision.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, type Stage } from './stage.js';
import type { Subscriber } from './subscribers.js';

/** Who debits, and on whose agreement. */
export type OrderMode = 'bound' | 'shared' | 'collected';

export interface OrderPlan {
  readonly staged: StagedChannel;
  readonly product: ProductName;
  readonly mode: OrderMode;
  readonly user: Subscriber;
  readonly fate: OrderFate;
  /** Whether and how the user's first card cannot be bound. */
  readonly firstCard?: 'refused' | 'left' | undefined;
  readonly claims: boolean;
}

export interface PlacedOrder extends OrderPlan {
  readonly orderNo: number;
  readonly externalOrderNo: string;
  readonly createdAt: number;
}

/** Places orders and takes the steps that the engine would have taken, each at its time. */
export function createOrderDesk(stage: Stage, made: Provisioned) {
  const { story, random, agenda, institution, calls } = stage;
  const { database, clock } = story;
  let placed = 0;

  async function bindCard({ staged, user, firstCard }: OrderPlan): Promise<string> {
    if (user.binding && firstCard === undefined) {
      const bound = await findBindingInForce(database, staged.channel.channelId, user.binding.bindOrderNo);
      if (bound?.status === 'BIND_SUCCESS') return user.binding.bindOrderNo;
    }
    const paymentChannelCode = random.pick(made.codes);
    const { channelUserId, mobile } = user;
    const bind = async (card: StoryCard, fate: 'bound' | 'refused' | 'left') => {
      const asked = { channelUserId, mobile, paymentChannelCode, bankCode: random.pick(BANKS), card };
      const { bindOrderNo } = await calls.sendBindCode(staged.channel, asked);
      if (fate === 'left') return bindOrderNo;
      institution.nextBinding = fate;
      await story.moveTo(clock.now() + random.between(15, 50) * SECOND_MS);
      await calls.confirmBinding(staged.channel, bindOrderNo);
      return bindOrderNo;
    };
    const otherCard = { ...user.card, bankCardNo: `622200${random.digits(13)}` };
    if (firstCard !== undefined) await bind(otherCard, firstCard);
    user.binding = { bindOrderNo: await bind(user.card, 'bound'), paymentChannelCode };
    return user.binding.bindOrderNo;
  }

  function shareAgreement({ staged, user }: OrderPlan, card: StoryCard): SharedAgreement {
    const number = `${staged.prefix}-${stage.telling}-${random.digits(12)}`;
    return {
      paymentChannelCode: made.codes[0] ?? '',
      sharedAgreementNo: number,
      channelUserId: user.channelUserId,
      certType: 'ID_CARD',
      ...encryptCard(staged.channel, card),
    };
  }

  async function describeAgreement(plan: OrderPlan) {
    if (plan.mode === 'bound') return { bindOrderNo: await bindCard(plan) };
    const { channelUserId, mobile, card } = plan.user;
    const user = { channelUserId, mobileEncrypted: encryptField(mobile, plan.staged.channel.aesKey) };
    if (plan.mode === 'shared') return { ...user, sharedAgreement: shareAgreement(plan, card) };
    return { ...user, channelAgreementRef: `REF-${random.digits(10)}` };
  }

  async function place(plan: OrderPlan): Promise<PlacedOrder> {
    placed += 1;
    const { staged } = plan;
    const externalOrderNo = `${staged.prefix}${stage.telling}-${String(placed).padStart(6, '0')}-${random.digits(4)}`;
    institution.fates.set(externalOrderNo, plan.fate);
    const agreement = await describeAgreement(plan);
    const { head } = await calls.createOrder(staged.channel, {
      settlementMode: plan.mode === 'collected' ? 'CHANNEL_COLLECT' : 'SVC_DEDUCT',
      externalOrderNo,
      productCode: made.productCodes[plan.product],
      ...agreement,
    });
    const order = { ...plan, orderNo: Number(head.orderNo), externalOrderNo, createdAt: clock.now() };
    if (head.orderStatus === 'INITIALIZING') awaitOutcome(order, 1);
    if (head.orderStatus === 'ACTIVE') planClaims(order, 1);
    await planNextStep(order);
    return order;
  }

  /** The engine looks for what is due every second. */
  async function planNextStep(order: PlacedOrder): Promise<void> {
    const { dueAt } = await findOrderStanding(database, order.orderNo);
    if (dueAt !== null) agenda.at(Math.max(dueAt, clock.now()), () => takeStep(order, dueAt));
  }

  /** Does nothing when the order was due at another time meanwhile: that is another entry of the agenda. */
  async function takeStep(order: PlacedOrder, plannedFor: number): Promise<void> {
    const { orderNo } = order;
    const locked = await lockOrderByNumber(database, orderNo);
    const standing = await findOrderStanding(database, orderNo);
    if (locked?.status !== 'ACTIVE' || standing.dueAt !== plannedFor) return;
    const at = clock.now();
    if (locked.settlementMode === 'CHANNEL_COLLECT') {
      await billOrder(database, orderNo, at);
      planClaims(order, locked.cycleNo + 1);
    } else {
      const due = { kind: 'one-order', at, orderNo } as const;
      const [ended] = await expireAndComplete(database, due, 1);
      if (!ended) await debit(order, standing.paymentChannelCode ?? '', due);
    }
    await planNextStep(order);
  }

  async function debit(
    order: PlacedOrder,
    paymentChannelCode: string,
    due: { readonly kind: 'one-order'; readonly at: number; readonly orderNo: number },
  ): Promise<void> {
    const { channel } = order.staged;
    const started = await startRenewals(database, paymentChannelCode, due, 1, RENEWAL_LEASE_SECONDS);
    const [renewal] = started.renewals;
    if (!renewal) throw new Error(`order ${order.orderNo} is due and cannot be debited`);
    const request = createDebitRequest(renewal, channel, unsealInstitutionNo(channel, renewal));
    const outcome = await sendDebit(institution.gateway, request);
    if (outcome.kind === 'success' || outcome.kind === 'declined') {
      await settleDebit(database, renewal, outcome, clock.now());
      if (outcome.kind === 'success') planClaims(order, renewal.cycleNo);
      return;
    }
    await scheduleDebitQuestion(database, renewal, FIRST_QUESTION_SECONDS);
    awaitOutcome(order, renewal.cycleNo);
  }

  /** The job asks until it knows. */
  function awaitOutcome(order: PlacedOrder, cycleNo: number): void {
    const askAgain = (wait: number): void =>
      agenda.at(clock.now() + wait, async () => {
        for (const code of made.codes) await stage.jobs.askAboutDebits(code);
        const locked = await lockOrderByNumber(database, order.orderNo);
        if (locked?.latestPaymentStatus === 'PROCESSING') return askAgain(QUESTION_PAUSE_MS);
        if (locked?.latestPaymentStatus === 'SUCCESS') planClaims(order, cycleNo);
        await planNextStep(order);
      });
    askAgain(QUESTION_PAUSE_MS);
  }

  /** An eager user claims most of what a period gives, within a few days. */
  function planClaims(order: PlacedOrder, cycleNo: number): void {
    if (!order.claims || !order.user.isEager) return;
    for (const [index] of PRODUCTS[order.product].benefits.entries()) {
      if (!random.chance(0.7)) continue;
      const at = clock.now() + random.between(3, 72 * 60) * MINUTE_MS;
      const benefit = { orderNo: order.orderNo, cycleNo, position: index + 1 };
      agenda.at(at, async () => {
        await stage.claim(database, order.staged.channel, benefit);
      });
    }
  }

  return {
    place,
    planNextStep,
    awaitOutcome,
    shareAgreement,
    /** How it stands at this moment. */
    async find(order: PlacedOrder) {
      const found = await lockOrderByNumber(database, order.orderNo);
      if (!found) throw new Error(`order ${order.orderNo} was placed and is not there`);
      return found;
    },
  };
}

export type OrderDesk = ReturnType<typeof createOrderDesk>;

const FIRST_QUESTION_SECONDS = 10;
const QUESTION_PAUSE_MS = 2 * MINUTE_MS;

/** How long a period of a product takes, a month having thirty days. */
export function periodMs(product: ProductName): number {
  const { periodType, period } = PRODUCTS[product];
  return period * (periodType === 'DAY' ? DAY_MS : 30 * DAY_MS);
}

/** People subscribe by day, in the evening most of all. */
export function timeOfDay(random: Stage['random'], day: number): number {
  const hours = random.chance(0.5) ? random.between(18, 23) : random.between(8, 17);
  // Midnight in Asia/Shanghai is 16:00 of the day before in UTC.
  const midnight = Math.floor((day + 8 * HOUR_MS) / DAY_MS) * DAY_MS - 8 * HOUR_MS;
  return midnight + hours * HOUR_MS + random.between(0, 3599) * SECOND_MS;
}
