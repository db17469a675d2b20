import { formatTime, MainOrder, PaymentRecord, parseTime } from '@perennial/wire';
import type { Channel } from '../../../catalog/channels/channel.js';
import type { TextPieces } from '../../../platform/answers/answer.js';
import { createSerializer, createTextAroundItems } from '../../../platform/answers/serialize.js';
import { dueAt } from '../../domain/orders/calendar.js';
import type { OrderDescription, PeriodRun } from '../../domain/orders/description.js';
import { paymentOrderNo } from '../../domain/orders/numbers.js';
import type { OrderHead } from '../../domain/orders/order.js';
import type { RedeemLinks } from './redeem.js';

/** As many periods are made at a time: some 45,000 characters in less than a millisecond. */
export const PERIODS_AT_A_TIME = 250;

/** Whether what is said about so many periods is made in pieces. */
export const isLong = (periods: number) => periods > PERIODS_AT_A_TIME;

export interface OrderParts {
  readonly head: OrderHead;
  readonly redeemUrl: string | null;
  /** Periods whose text is there already, and the others, which follow. */
  readonly started: string;
  readonly periods: readonly PeriodRun[];
}

const recordText = createSerializer(PaymentRecord);
const aroundRecords = createTextAroundItems(MainOrder, 'paymentRecords');

/** The text of an order: in one, or if it is long, in pieces. */
export function orderText(parts: OrderParts, periods: number): string | TextPieces {
  if (isLong(periods)) return orderPieces(parts);
  const { head, redeemUrl, started, periods: runs } = parts;
  const order = { ...head, redeemUrl };
  return aroundRecords.before(order) + joined(started, recordTexts(head, runs)) + aroundRecords.after(order);
}

export function* orderPieces({ head, redeemUrl, started, periods }: OrderParts): Generator<string> {
  const order = { ...head, redeemUrl };
  yield aroundRecords.before(order) + started;
  let comma = started === '' ? '' : ',';
  for (const some of stretchesOf(periods)) {
    yield comma + recordTexts(head, some);
    comma = ',';
  }
  yield aroundRecords.after(order);
}

const joined = (some: string, others: string) => (some === '' || others === '' ? some + others : `${some},${others}`);

/** The one place where the text of a period is made that does not come from the database. */
function recordTexts(head: OrderHead, runs: readonly PeriodRun[]): string {
  const anchor = parseTime(head.createTime);
  if (anchor === undefined) throw new Error(`order ${head.orderNo} was created at no time`);
  let text = '';
  for (const [from, to, paymentStatus, amountCent, refundAmountCent, expectAfter, paidAfter] of runs) {
    for (let cycleNo = from; cycleNo <= to; cycleNo += 1) {
      const due = dueAt(anchor, head, cycleNo);
      if (text !== '') text += ',';
      text += recordText({
        paymentOrderNo: paymentOrderNo(head.orderNo, cycleNo),
        cycleNo,
        expectPayTime: formatTime(due + expectAfter * 1000),
        paidAt: paidAfter === null ? null : formatTime(due + paidAfter * 1000),
        amountCent,
        refundAmountCent,
        paymentStatus,
      });
    }
  }
  return text;
}

/** The runs again, cut where a stretch of PERIODS_AT_A_TIME ends. */
export function* stretchesOf<Run extends readonly [from: number, to: number, ...rest: unknown[]]>(
  runs: readonly Run[],
): Generator<Run[]> {
  let stretch: Run[] = [];
  let room = PERIODS_AT_A_TIME;
  for (const run of runs) {
    const [first, last, ...rest] = run;
    for (let from = first; from <= last; ) {
      const to = Math.min(last, from + room - 1);
      stretch.push([from, to, ...rest] as unknown as Run);
      room -= to - from + 1;
      from = to + 1;
      if (room > 0) continue;
      yield stretch;
      stretch = [];
      room = PERIODS_AT_A_TIME;
    }
  }
  if (stretch.length > 0) yield stretch;
}

/** The link is signed under the secret that the channel has at this moment, at a replay too. */
export function describedParts(
  links: RedeemLinks,
  channel: Channel,
  { head, link, periods }: OrderDescription,
): OrderParts {
  return { head, redeemUrl: link && links.sign(channel, head.orderNo, link), started: '', periods };
}

/** What the endpoints that answer with one order give for its description. */
export function orderRenderer(links: RedeemLinks) {
  return (channel: Channel, description: OrderDescription): string | TextPieces =>
    orderText(describedParts(links, channel, description), description.periods.at(-1)?.[1] ?? 0);
}
