import { formatTime, MainOrder, PaymentRecord, parseTime } from '@perennial/wire';
import type { Channel } from '../../../catalog/channels/channel.js';
import type { TextPieces } from '../../../platform/answers/answer.js';
import { createSerializer, createTextAroundItems } from '../../../platform/answers/serialize.js';
import { periodDueAt } from './calendar.js';
import type { OrderHead } from './order.js';
import type { OrderDescription, PeriodRun } from './order-description.js';
import { formatPaymentOrderNo } from './order-numbers.js';
import type { RedeemLinks } from './redeem-links.js';

/** The number of periods rendered at a time: about 45,000 characters, in less than a millisecond. */
export const PERIODS_AT_A_TIME = 250;

/** Returns true if an answer with this number of periods is sent in pieces. */
export const isLongAnswer = (periods: number) => periods > PERIODS_AT_A_TIME;

export interface OrderParts {
  readonly head: OrderHead;
  readonly redeemUrl: string | null;
  /** The text of the first periods, if the database has rendered them. Otherwise empty. */
  readonly started: string;
  /** The remaining periods. */
  readonly periods: readonly PeriodRun[];
}

const renderRecord = createSerializer(PaymentRecord);
const aroundRecords = createTextAroundItems(MainOrder, 'paymentRecords');

/** Renders an order as a string, or in pieces if it has many periods. */
export function renderOrder(parts: OrderParts, periods: number): string | TextPieces {
  if (isLongAnswer(periods)) return renderOrderInPieces(parts);
  const { head, redeemUrl, started, periods: runs } = parts;
  const order = { ...head, redeemUrl };
  return aroundRecords.before(order) + joinTexts(started, renderRecords(head, runs)) + aroundRecords.after(order);
}

export function* renderOrderInPieces({ head, redeemUrl, started, periods }: OrderParts): Generator<string> {
  const order = { ...head, redeemUrl };
  yield aroundRecords.before(order) + started;
  let comma = started === '' ? '' : ',';
  for (const some of cutIntoStretches(periods)) {
    yield comma + renderRecords(head, some);
    comma = ',';
  }
  yield aroundRecords.after(order);
}

const joinTexts = (some: string, others: string) =>
  some === '' || others === '' ? some + others : `${some},${others}`;

/** Renders the periods of these runs. */
function renderRecords(head: OrderHead, runs: readonly PeriodRun[]): string {
  const anchor = parseTime(head.createTime);
  if (anchor === undefined) throw new Error(`order ${head.orderNo} was created at no time`);
  let text = '';
  for (const [from, to, paymentStatus, amountCent, refundAmountCent, expectAfter, paidAfter] of runs) {
    for (let cycleNo = from; cycleNo <= to; cycleNo += 1) {
      const due = periodDueAt(anchor, head, cycleNo);
      if (text !== '') text += ',';
      text += renderRecord({
        paymentOrderNo: formatPaymentOrderNo(head.orderNo, cycleNo),
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

/** Splits runs of periods into groups with at most PERIODS_AT_A_TIME periods each. */
export function* cutIntoStretches<Run extends readonly [from: number, to: number, ...rest: unknown[]]>(
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

/** Returns the parts of an answer. Signs its link with the channel's current secret, even in a replayed answer. */
export function partsOfDescription(
  links: RedeemLinks,
  channel: Channel,
  { head, link, periods }: OrderDescription,
): OrderParts {
  return { head, redeemUrl: link && links.sign(channel, head.orderNo, link), started: '', periods };
}

/** Returns a function that renders the description of one order as an answer. */
export function createOrderRenderer(links: RedeemLinks) {
  return (channel: Channel, description: OrderDescription): string | TextPieces =>
    renderOrder(partsOfDescription(links, channel, description), description.periods.at(-1)?.[1] ?? 0);
}
