import { AffectedPayment, type PaymentStatus, ReplaceData } from '@perennial/wire';
import type { Channel } from '../../../catalog/channels/channel.js';
import type { TextPieces } from '../../../platform/answers/answer.js';
import { createSerializer, createTextAroundItems } from '../../../platform/answers/serialize.js';
import { paymentOrderNo } from '../../domain/orders/numbers.js';
import { isLong, stretchesOf } from '../../store/orders/text.js';

/** What agreements/replace answers, with the periods that it affects in runs of one status. */
export interface ReplaceDescription {
  readonly head: Omit<ReplaceData, 'affectedPayments'>;
  readonly affected: readonly AffectedRun[];
}

export type AffectedRun = readonly [from: number, to: number, previousStatus: PaymentStatus];

const paymentText = createSerializer(AffectedPayment);
const aroundAffected = createTextAroundItems(ReplaceData, 'affectedPayments');

export function renderReplaced(_channel: Channel, { head, affected }: ReplaceDescription): string | TextPieces {
  const periods = affected.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  if (isLong(periods)) return replacedPieces(head, affected);
  return aroundAffected.before(head) + affectedTexts(head.orderNo, affected) + aroundAffected.after(head);
}

function* replacedPieces(head: ReplaceDescription['head'], affected: readonly AffectedRun[]): Generator<string> {
  let before = aroundAffected.before(head);
  for (const some of stretchesOf(affected)) {
    yield before + affectedTexts(head.orderNo, some);
    before = ',';
  }
  yield aroundAffected.after(head);
}

function affectedTexts(orderNo: string, runs: readonly AffectedRun[]): string {
  let text = '';
  for (const [from, to, previousStatus] of runs) {
    for (let cycleNo = from; cycleNo <= to; cycleNo += 1) {
      if (text !== '') text += ',';
      text += paymentText({ paymentOrderNo: paymentOrderNo(orderNo, cycleNo), cycleNo, previousStatus });
    }
  }
  return text;
}
