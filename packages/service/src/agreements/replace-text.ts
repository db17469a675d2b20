import { AffectedPayment, type PaymentStatus, ReplaceData } from '@perennial/wire';
import type { Pieces } from '../answer.js';
import type { Channel } from '../channels/channel.js';
import { paymentOrderNo } from '../orders/numbers.js';
import { isLong, PERIODS_AT_A_TIME } from '../orders/text.js';
import { aroundItems, serializer } from '../serialize.js';

/** What agreements/replace answers, with the periods that it affects in runs of one status. */
export interface ReplaceDescription {
  readonly head: Omit<ReplaceData, 'affectedPayments'>;
  readonly affected: readonly AffectedRun[];
}

export type AffectedRun = readonly [from: number, to: number, previousStatus: PaymentStatus];

const paymentText = serializer(AffectedPayment);
const aroundAffected = aroundItems(ReplaceData, 'affectedPayments');

export function renderReplaced(_channel: Channel, description: ReplaceDescription): string | Pieces {
  const count = description.affected.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  const pieces = replacedPieces(description);
  return isLong(count) ? pieces : [...pieces].join('');
}

function* replacedPieces({ head, affected }: ReplaceDescription): Generator<string> {
  let text = aroundAffected.before(head);
  let made = 0;
  for (const [from, to, previousStatus] of affected) {
    for (let cycleNo = from; cycleNo <= to; cycleNo += 1) {
      const payment = { paymentOrderNo: paymentOrderNo(head.orderNo, cycleNo), cycleNo, previousStatus };
      text += (made === 0 ? '' : ',') + paymentText(payment);
      made += 1;
      if (made % PERIODS_AT_A_TIME > 0) continue;
      yield text;
      text = '';
    }
  }
  yield text + aroundAffected.after(head);
}
