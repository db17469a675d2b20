import { useCommonTexts } from '../../i18n/common.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { joinParts } from '../../i18n/language.ts';
import { NOUNS } from '../../i18n/nouns.ts';

/** Names of the kinds of runs. */
export const useKindTexts = dictionary({
  RETRY: ['Retry payments', '批量重试扣款'],
  REFUND: ['Refund', '批量退款'],
  UNSUBSCRIBE: ['Unsubscribe', '批量退订'],
  REPLAY: ['Replay events', '批量重推事件'],
});

/** The effect of each kind of run. */
export const useKindHints = dictionary({
  RETRY: [
    'Each selected period is debited now instead of at its next retry.',
    '立即对所选各期重新扣款，不再等待下一次自动重试。',
  ],
  REFUND: [
    'Refunds all that is left of each period. Another finance operator has to approve it first.',
    '退还所选各期的全部可退金额，须经另一位财务人员批准后执行。',
  ],
  UNSUBSCRIBE: [
    'Ends the selected orders. Unpaid periods are no longer collected, and paid periods are not refunded.',
    '退订所选订单，未收款项不再收取，已收款项不退。',
  ],
  REPLAY: ['Sends the selected events to their channel again.', '将所选事件重新推送给渠道。'],
});

export const FILTER_NAMES = {
  status: NOUNS.status,
  reason: NOUNS.reason,
  paymentChannelCode: NOUNS.institution,
  appId: NOUNS.channel,
  productCode: NOUNS.product,
  from: ['From', '从'],
  to: ['To', '至'],
  settlementMode: NOUNS.mode,
  createdFrom: ['Created from', '创建时间从'],
  createdTo: ['Created to', '创建时间至'],
  dueFrom: ['Due from', '扣款时间从'],
  dueTo: ['Due to', '扣款时间至'],
  failed: ['Latest payment failed', '最近一期失败'],
  channelUserId: NOUNS.user,
  eventType: ['Event type', '事件类型'],
  orderNo: NOUNS.order,
  list: ['List of numbers', '单号列表'],
  fileName: ['File', '文件'],
  cycleNo: NOUNS.period,
  paidFrom: ['Paid from', '支付日期从'],
  paidTo: ['Paid before', '支付日期早于'],
} as const;
const useFilterNames = dictionary(FILTER_NAMES);

/** Returns a function that formats a filter as names with values. */
export function useFilterText(): (filter: unknown) => string {
  const common = useCommonTexts();
  const nameOf = useFilterNames() as (name: string) => string;
  return (filter) =>
    joinParts(
      Object.entries((filter ?? {}) as object).map(([name, value]) => common('named', { name: nameOf(name), value })),
    );
}
