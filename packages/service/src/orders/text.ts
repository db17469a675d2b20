import { formatTime, MainOrder, PaymentRecord, parseTime } from '@perennial/wire';
import type { Pieces } from '../answer.js';
import type { Channel } from '../channels/channel.js';
import { aroundItems, serializer } from '../serialize.js';
import { dueAt } from './calendar.js';
import type { OrderDescription, PeriodRun } from './description.js';
import { paymentOrderNo } from './numbers.js';
import type { OrderHead } from './order.js';
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

const recordText = serializer(PaymentRecord);
const aroundRecords = aroundItems(MainOrder, 'paymentRecords');

/** The text of an order, piece by piece: the one place where it is made. */
export function* orderPieces({ head, redeemUrl, started, periods }: OrderParts): Generator<string> {
  const order = { ...head, redeemUrl };
  yield aroundRecords.before(order) + started;
  let comma = started === '' ? '' : ',';
  for (const text of recordTexts(head, periods)) {
    yield comma + text;
    comma = ',';
  }
  yield aroundRecords.after(order);
}

function* recordTexts(head: OrderHead, periods: readonly PeriodRun[]): Generator<string> {
  const anchor = parseTime(head.createTime);
  if (anchor === undefined) throw new Error(`order ${head.orderNo} was created at no time`);
  let text = '';
  let made = 0;
  for (const [from, to, paymentStatus, amountCent, refundAmountCent, expectAfter, paidAfter] of periods) {
    for (let cycleNo = from; cycleNo <= to; cycleNo += 1) {
      const due = dueAt(anchor, head, cycleNo);
      const record = recordText({
        paymentOrderNo: paymentOrderNo(head.orderNo, cycleNo),
        cycleNo,
        expectPayTime: formatTime(due + expectAfter * 1000),
        paidAt: paidAfter === null ? null : formatTime(due + paidAfter * 1000),
        amountCent,
        refundAmountCent,
        paymentStatus,
      });
      text += made === 0 ? record : `,${record}`;
      made += 1;
      if (made < PERIODS_AT_A_TIME) continue;
      yield text;
      text = '';
      made = 0;
    }
  }
  if (made > 0) yield text;
}

/** In one text, unless it is long. */
export function orderText(parts: OrderParts, periods: number): string | Pieces {
  const pieces = orderPieces(parts);
  return isLong(periods) ? pieces : [...pieces].join('');
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
  return (channel: Channel, description: OrderDescription): string | Pieces =>
    orderText(describedParts(links, channel, description), description.periods.at(-1)?.[1] ?? 0);
}
