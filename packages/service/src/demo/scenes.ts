import { alertText } from '../alerts/alert-wordings.js';
import { resolveAlert } from '../alerts/alerts-sql.js';
import { approve, decline } from '../operator/approvals/approvals.js';
import { requestRefund } from '../operator/approvals/request-refund.js';
import { OperatorError } from '../operator/operator.js';
import { addNote } from '../operator/orders/notes.js';
import { unsubscribeOrder } from '../operator/orders/orders.js';
import { type RefundInput, refundPayment } from '../operator/orders/refunds.js';
import { formatAttemptNo } from '../subscriptions/domain/orders/order-numbers.js';
import {
  ENDED_REASONS,
  FINAL_REASONS,
  LEAVING_REASONS,
  OPERATOR_LEAVING_REASONS,
  ORDER_NOTES,
  PEOPLE,
  type PersonName,
  PRODUCTS,
  type ProductName,
  REFUND_NOTES,
  REFUND_REFUSALS,
  RETRYABLE_REASONS,
} from './cast.js';
import type { DebitFate, OrderFate, RefundFate } from './institution.js';
import { type OrderDesk, type OrderMode, type PlacedOrder, periodMs, timeOfDay } from './orders.js';
import type { StagedChannel } from './provision.js';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, type Stage } from './stage.js';

/** How an order comes about and what becomes of it. */
export interface Scene {
  /** How many of each round of orders are like this. */
  readonly times: number;
  readonly products?: readonly ProductName[];
  readonly modes: readonly OrderMode[];
  readonly createdAt: (act: Act) => number;
  readonly fate?: (act: Act) => OrderFate;
  readonly firstCard?: (act: Act) => 'refused' | 'left';
  /** Nothing is claimed of what it gives. */
  readonly unclaimed?: boolean;
  /** What happens to it later: put down in the agenda once it is placed. */
  readonly afterwards?: (order: PlacedOrder, act: Act) => void;
}

/** One order's part of the story. `nth` counts the orders of the same scene. */
export interface Act {
  readonly stage: Stage;
  readonly desk: OrderDesk;
  readonly product: ProductName;
  readonly nth: number;
}

/** How far back most of the story goes. */
const MONTH_DAYS = 38;

const PAID: DebitFate = { kind: 'paid' };
const declinedForNow = ({ random }: Stage): DebitFate => ({
  kind: 'declined',
  decline: 'retryable',
  reason: random.pick(RETRYABLE_REASONS),
});

/** The nearer the more. */
const daysAgo =
  (from: number, to: number) =>
  ({ stage: { random, end } }: Act) => {
    const ago = to + (from - to) * random.fraction() ** 1.3;
    const at = timeOfDay(random, end - ago * DAY_MS);
    return at < end - 20 * MINUTE_MS ? at : at - DAY_MS;
  };
const inTheMonth = daysAgo(MONTH_DAYS, 0);
/** So that its period after `cycles` was due between so many minutes ago. */
const lastDue =
  (least: number, most: number) =>
  ({ stage: { random, end }, product }: Act) => {
    const cycles = product === 'weekly' ? random.between(1, 4) : random.between(2, 6);
    return end - cycles * periodMs(product) - random.between(least * 60, most * 60) * SECOND_MS;
  };
/** Now and then a debit fails at first. */
const mostlyPaid =
  ({ stage }: Act): OrderFate =>
  (cycleNo, tryNo) =>
    cycleNo > 1 && stage.random.chance(tryNo === 1 ? 0.05 : 0.3) ? declinedForNow(stage) : PAID;

/** From its second period on, a period fails that often. */
const failing =
  (cycle: number, tries: number) =>
  ({ stage }: Act): OrderFate =>
  (cycleNo, tryNo) =>
    cycleNo === cycle && tryNo <= tries ? declinedForNow(stage) : PAID;

/** Whatever is due last fails. */
const failingAtLast = ({ stage }: Act): OrderFate => {
  const { end, story } = stage;
  return (cycleNo) => (cycleNo > 1 && end - story.clock.now() < 3 * DAY_MS ? declinedForNow(stage) : PAID);
};

const ALL_TRIES = 99;

export const SCENES: readonly Scene[] = [
  { times: 12, modes: ['bound', 'bound', 'shared'], createdAt: inTheMonth, fate: mostlyPaid, afterwards: perhapsNote },
  {
    times: 7,
    products: ['monthly', 'weekly', 'daily', 'daily', 'single'],
    modes: ['collected'],
    createdAt: inTheMonth,
    afterwards: perhapsNote,
  },
  // Subscribers of last season, whose first benefits have expired.
  {
    times: 3,
    products: ['monthly'],
    modes: ['bound', 'collected'],
    createdAt: daysAgo(125, 96),
    fate: mostlyPaid,
    unclaimed: true,
  },
  { times: 1, products: ['trial'], modes: ['bound'], createdAt: daysAgo(30, 9) },
  { times: 1, products: ['single'], modes: ['shared', 'collected'], createdAt: daysAgo(MONTH_DAYS, 33) },
  // Paid by the second try, or the third.
  {
    times: 3,
    products: ['weekly', 'daily', 'trial'],
    modes: ['bound', 'shared'],
    createdAt: daysAgo(26, 10),
    fate: (act) => failing(2, 1 + (act.nth % 2))(act),
    afterwards: perhapsNote,
  },
  { times: 1, products: ['weekly'], modes: ['bound'], createdAt: lastDue(20, 280), fate: failingAtLast },
  { times: 1, products: ['weekly'], modes: ['shared'], createdAt: lastDue(420, 1200), fate: failingAtLast },
  {
    times: 1,
    products: ['weekly', 'daily'],
    modes: ['bound'],
    createdAt: daysAgo(30, 18),
    fate: failing(2, ALL_TRIES),
    afterwards: perhapsNote,
  },
  {
    times: 2,
    modes: ['bound', 'shared'],
    createdAt: inTheMonth,
    fate:
      ({ stage: { random } }) =>
      () => ({ kind: 'declined', decline: 'final', reason: random.pick(FINAL_REASONS) }),
  },
  // A card that is refused for good in the middle: the period fails, the subscription goes on.
  {
    times: 1,
    products: ['weekly', 'daily'],
    modes: ['bound'],
    createdAt: daysAgo(28, 16),
    fate:
      ({ stage: { random } }) =>
      (cycleNo) =>
        cycleNo === 2 ? { kind: 'declined', decline: 'final', reason: random.pick(FINAL_REASONS) } : PAID,
  },
  {
    times: 1,
    products: ['weekly', 'daily'],
    modes: ['bound'],
    createdAt: daysAgo(25, 9),
    fate:
      ({ stage: { random } }) =>
      (cycleNo) =>
        cycleNo === 2 ? { kind: 'declined', decline: 'agreement-invalid', reason: random.pick(ENDED_REASONS) } : PAID,
  },
  { times: 2, modes: ['bound', 'collected'], createdAt: daysAgo(MONTH_DAYS, 3), afterwards: leaveOnThePage },
  { times: 2, modes: ['shared', 'collected'], createdAt: daysAgo(MONTH_DAYS, 3), afterwards: leaveThroughTheChannel },
  { times: 1, modes: ['bound'], createdAt: daysAgo(MONTH_DAYS, 3), afterwards: leaveByPhone },
  {
    times: 1,
    products: ['weekly'],
    modes: ['bound'],
    createdAt: daysAgo(24, 9),
    fate: failing(2, ALL_TRIES),
    afterwards: (order, act) => planLeaving(order, act, order.createdAt + periodMs(order.product) + 2 * HOUR_MS),
  },
  {
    times: 1,
    products: ['yearly'],
    modes: ['bound'],
    createdAt: daysAgo(MONTH_DAYS, 6),
    afterwards: (order, act) => planApprovedRefund(order, act),
  },
  {
    times: 1,
    products: ['monthly', 'weekly'],
    modes: ['bound', 'shared'],
    createdAt: daysAgo(MONTH_DAYS, 6),
    unclaimed: true,
    afterwards: (order, act) => planRefund(order, act, 'whole', { kind: 'success' }),
  },
  {
    times: 1,
    products: ['monthly', 'yearly', 'weekly'],
    modes: ['bound'],
    createdAt: daysAgo(MONTH_DAYS, 6),
    unclaimed: true,
    afterwards: (order, act) => planRefund(order, act, 'part', { kind: 'success' }),
  },
  {
    times: 1,
    products: ['monthly', 'weekly'],
    modes: ['bound'],
    createdAt: daysAgo(MONTH_DAYS, 6),
    afterwards: planRefusedRefund,
  },
  {
    times: 1,
    products: ['monthly', 'yearly'],
    modes: ['bound'],
    createdAt: daysAgo(MONTH_DAYS, 6),
    afterwards(order, { stage, nth }) {
      // The first one for so long that somebody has to look at it.
      const hours = nth === 0 ? 40 : stage.random.between(1, 20);
      stage.agenda.at(stage.end - hours * HOUR_MS, () => refund(order, stage, 'chen', {}, { kind: 'pending' }));
    },
  },
  // Under way at this moment.
  {
    times: 1,
    products: ['monthly', 'weekly'],
    modes: ['shared'],
    createdAt: ({ stage: { random, end } }) => end - random.between(180, 540) * SECOND_MS,
    fate: () => () => ({ kind: 'paid-later', seconds: 3600 }),
  },
  {
    times: 1,
    products: ['weekly'],
    modes: ['bound'],
    createdAt: lastDue(5, 9),
    fate:
      ({ stage: { end, story } }) =>
      () =>
        end - story.clock.now() < HOUR_MS ? { kind: 'paid-later', seconds: 3600 } : PAID,
  },
  {
    times: 1,
    products: ['weekly'],
    modes: ['shared'],
    createdAt: daysAgo(24, 9),
    fate: failing(2, 1),
    afterwards: replaceCard,
  },
  {
    times: 2,
    modes: ['bound'],
    createdAt: inTheMonth,
    fate: mostlyPaid,
    firstCard: ({ nth }) => (nth % 2 === 0 ? 'refused' : 'left'),
    afterwards: perhapsNote,
  },
  // Debited while the user left: paid all the same, and to be given back.
  {
    times: 1,
    products: ['weekly'],
    modes: ['bound'],
    createdAt: daysAgo(26, 9),
    fate: () => (cycleNo) => (cycleNo === 2 ? { kind: 'paid-later', seconds: 3600 } : PAID),
    afterwards: leaveDuringDebit,
  },
  {
    times: 1,
    modes: ['bound'],
    createdAt: inTheMonth,
    fate: () => (cycleNo) => (cycleNo === 1 ? { kind: 'paid-later', seconds: 90 } : PAID),
  },
];

export function chooseProduct(scene: Scene, { products }: StagedChannel, stage: Stage, nth: number): ProductName {
  const chosen = scene.products?.[nth % scene.products.length];
  // Most take what the channel sells most.
  return chosen ?? stage.random.pick([...products.slice(0, 1), ...products.slice(0, 3)]);
}

const SUPPORT: readonly PersonName[] = ['ann', 'bo'];

function perhapsNote(order: PlacedOrder, { stage }: Act): void {
  const { random, agenda } = stage;
  if (!random.chance(0.15)) return;
  const author = random.pick(SUPPORT);
  agenda.at(order.createdAt + random.between(2, 150) * HOUR_MS, () => note(order, stage, author));
}

const note = ({ orderNo }: PlacedOrder, { by, random }: Stage, who: PersonName) =>
  by(who, (operator) => addNote(operator, { orderNo: String(orderNo), text: random.pick(ORDER_NOTES) }));

function someDaysLater({ createdAt }: PlacedOrder, { stage: { random, end } }: Act): number {
  return Math.min(createdAt + random.between(20, 12 * 24) * HOUR_MS, end - random.between(5, 600) * MINUTE_MS);
}

function leaveOnThePage(order: PlacedOrder, act: Act): void {
  planLeaving(order, act, someDaysLater(order, act));
}

function planLeaving(order: PlacedOrder, { stage }: Act, at: number): void {
  stage.agenda.at(at, async () => {
    await stage.leave(stage.story.database, order.staged.channel, order.orderNo, order.user.mobile.slice(-4));
  });
}

function leaveThroughTheChannel(order: PlacedOrder, act: Act): void {
  const { stage, desk } = act;
  stage.agenda.at(someDaysLater(order, act), async () => {
    if ((await desk.find(order)).status !== 'ACTIVE') return;
    await stage.calls.unsubscribe(order.staged.channel, order.externalOrderNo, stage.random.pick(LEAVING_REASONS));
  });
}

function leaveByPhone(order: PlacedOrder, act: Act): void {
  const { stage, desk } = act;
  const { random } = stage;
  stage.agenda.at(someDaysLater(order, act), async () => {
    if ((await desk.find(order)).status !== 'ACTIVE') return;
    const who = random.pick(SUPPORT);
    const reason = random.pick(OPERATOR_LEAVING_REASONS);
    await note(order, stage, who);
    await stage.by(who, (operator) => unsubscribeOrder(operator, { orderNo: String(order.orderNo), reason }));
  });
}

async function refund(
  order: PlacedOrder,
  { institution, by }: Stage,
  who: PersonName,
  asked: Omit<RefundInput, 'orderNo' | 'cycleNo'> & { readonly cycleNo?: number },
  fate: RefundFate,
): Promise<string | undefined> {
  institution.nextRefund = fate;
  try {
    const done = await by(who, (operator) =>
      refundPayment(operator, { orderNo: String(order.orderNo), cycleNo: 1, ...asked }),
    );
    return done.refundNo;
  } catch (error) {
    // Refused by the institution, which is stored; or there was nothing to refund.
    if (error instanceof OperatorError) return undefined;
    throw error;
  }
}

const FINANCE: readonly PersonName[] = ['chen', 'dora'];
const someTimeLater = ({ createdAt }: PlacedOrder, { stage: { random, end } }: Act) =>
  Math.min(createdAt + random.between(10, 120) * HOUR_MS, end - random.between(2, 30) * HOUR_MS);

function planRefund(order: PlacedOrder, act: Act, howMuch: 'whole' | 'part', fate: RefundFate): void {
  const { stage } = act;
  const { random } = stage;
  stage.agenda.at(someTimeLater(order, act), async () => {
    const { amountCent } = PRODUCTS[order.product];
    const part = howMuch === 'part' ? { amountCent: Math.round((amountCent * random.pick([25, 30, 50])) / 100) } : {};
    await refund(order, stage, random.pick(FINANCE), { ...part, note: random.pick(REFUND_NOTES) }, fate);
  });
}

/** Half of them are refunded after all, to another account. */
function planRefusedRefund(order: PlacedOrder, act: Act): void {
  const { stage, nth } = act;
  const at = someTimeLater(order, act);
  const note = stage.random.pick(REFUND_NOTES);
  stage.agenda.at(at, async () => {
    await refund(order, stage, 'dora', { note }, { kind: 'refused', reason: stage.random.pick(REFUND_REFUSALS) });
  });
  if (nth % 2 === 0) return;
  stage.agenda.at(at + 26 * HOUR_MS, async () => {
    const refundNo = await refund(order, stage, 'chen', { note: `${note}, again` }, { kind: 'success' });
    const refused = refundNo?.replace(/02$/, '01');
    if (refused === undefined) return;
    await resolveAlert(stage.story.database, 'refund-refused', refused, alertText('refund-refused|resolved'));
  });
}

/** Above it, a refund needs a second person. */
const APPROVAL_CENT = 10_000;

/** So much money needs a second person. The second one still waits for that, the third was declined. */
function planApprovedRefund(order: PlacedOrder, act: Act): void {
  const { stage, nth } = act;
  const { random, agenda, by, institution } = stage;
  const decision = (['approved', 'waiting', 'declined'] as const)[nth % 3];
  const at = decision === 'waiting' ? stage.end - random.between(20, 300) * MINUTE_MS : someTimeLater(order, act);
  const asked = {
    orderNo: String(order.orderNo),
    cycleNo: 1,
    key: `console-${order.externalOrderNo}`,
    note: random.pick(REFUND_NOTES),
  };
  agenda.at(at, async () => {
    const { approvalId } = await by('dora', (operator) => requestRefund(operator, asked, APPROVAL_CENT));
    if (decision === 'waiting' || approvalId === null) return;
    agenda.at(at + random.between(10, 90) * MINUTE_MS, () =>
      by(PEOPLE.chen.name, async (operator) => {
        institution.nextRefund = { kind: 'success' };
        if (decision === 'approved') await approve(operator, { approvalId, note: 'seen and checked' }, PEOPLE.chen);
        else await decline(operator, { approvalId, note: '已超过七天无理由期限' }, PEOPLE.chen);
      }),
    );
  });
}

function replaceCard(order: PlacedOrder, { stage, desk }: Act): void {
  stage.agenda.at(order.createdAt + periodMs(order.product) + 3 * HOUR_MS, async () => {
    if ((await desk.find(order)).status !== 'ACTIVE') return;
    const card = { ...order.user.card, bankCardNo: `622200${stage.random.digits(13)}` };
    const { channel } = order.staged;
    await stage.calls.replaceAgreement(channel, order.externalOrderNo, desk.shareAgreement(order, card));
    desk.awaitOutcome(order, 2);
  });
}

function leaveDuringDebit(order: PlacedOrder, act: Act): void {
  const { stage, nth } = act;
  const due = order.createdAt + periodMs(order.product);
  planLeaving(order, act, due + 10 * MINUTE_MS);
  if (nth % 2 === 1) return;
  stage.agenda.at(due + 20 * HOUR_MS, async () => {
    const refundNo = await refund(
      order,
      stage,
      'chen',
      { cycleNo: 2, note: REFUND_NOTES[0] ?? '' },
      { kind: 'success' },
    );
    if (refundNo === undefined) return;
    const attemptNo = formatAttemptNo(order.orderNo, 2, 1);
    await resolveAlert(
      stage.story.database,
      'debit-after-unsubscribe',
      attemptNo,
      alertText('debit-after-unsubscribe|resolved'),
    );
  });
}
