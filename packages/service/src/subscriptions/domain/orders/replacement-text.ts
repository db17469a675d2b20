import { AffectedPayment, type PaymentStatus, ReplaceData } from '@perennial/wire';
import type { Channel } from '../../../catalog/channels/channel.js';
import type { TextPieces } from '../../../platform/answers/answer.js';
import { createSerializer, createTextAroundItems } from '../../../platform/answers/serialize.js';
import { formatPaymentOrderNo } from './order-numbers.js';
import { cutIntoStretches, isLongAnswer } from './order-text.js';

/** A compact form of the answer of agreements/replace. A run is consecutive affected periods with the same status. */
export interface ReplaceDescription {
  readonly head: Omit<ReplaceData, 'affectedPayments'>;
  readonly affected: readonly AffectedRun[];
}

export type AffectedRun = readonly [from: number, to: number, previousStatus: PaymentStatus];

const renderAffectedPayment = createSerializer(AffectedPayment);
const aroundAffected = createTextAroundItems(ReplaceData, 'affectedPayments');

export function renderReplacement(_channel: Channel, { head, affected }: ReplaceDescription): string | TextPieces {
  const periods = affected.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  if (isLongAnswer(periods)) return renderReplacementInPieces(head, affected);
  return aroundAffected.before(head) + renderAffectedPayments(head.orderNo, affected) + aroundAffected.after(head);
}

function* renderReplacementInPieces(
  head: ReplaceDescription['head'],
  affected: readonly AffectedRun[],
): Generator<string> {
  let before = aroundAffected.before(head);
  for (const some of cutIntoStretches(affected)) {
    yield before + renderAffectedPayments(head.orderNo, some);
    before = ',';
  }
  yield aroundAffected.after(head);
}

function renderAffectedPayments(orderNo: string, runs: readonly AffectedRun[]): string {
  let text = '';
  for (const [from, to, previousStatus] of runs) {
    for (let cycleNo = from; cycleNo <= to; cycleNo += 1) {
      if (text !== '') text += ',';
      text += renderAffectedPayment({
        paymentOrderNo: formatPaymentOrderNo(orderNo, cycleNo),
        cycleNo,
        previousStatus,
      });
    }
  }
  return text;
}
