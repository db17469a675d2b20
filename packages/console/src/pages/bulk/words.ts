import { dictionary } from '../../i18n/dictionary.ts';
import { NOUNS } from '../../i18n/nouns.ts';

/** What a run does. */
export const useKindTexts = dictionary({
  RETRY: ['Retry payments', '批量重试扣款'],
  REFUND: ['Refund', '批量退款'],
  UNSUBSCRIBE: ['Unsubscribe', '批量退订'],
  REPLAY: ['Replay events', '批量重推事件'],
});

/** What is meant by it, before it is done. */
export const useKindHints = dictionary({
  RETRY: [
    'Each of these periods is debited at once, in place of at its next retry.',
    '所选各期将立即重新扣款，不再等待下一次自动重试。',
  ],
  REFUND: [
    'All that is left of each period is refunded. A second person has to approve it before anything is sent.',
    '退还所选各期的全部剩余金额。须经第二人批准后才会执行。',
  ],
  UNSUBSCRIBE: [
    'Each of these orders ends. What is not paid yet is not collected any more; nothing is refunded.',
    '所选订单将终止，未收款项不再收取，已收款项不退。',
  ],
  REPLAY: ['Each of these events is sent to its channel again.', '所选事件将重新推送给渠道。'],
});

const useFilterNames = dictionary({
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
  unsettled: ['No final result yet', '尚无最终结果'],
  channelUserId: NOUNS.user,
  eventType: ['Event type', '事件类型'],
  orderNo: NOUNS.order,
});

/** A filter in words: what is asked of each thing that it means. */
export function useFilterText(): (filter: unknown) => string {
  const nameOf = useFilterNames() as (name: string) => string;
  return (filter) =>
    Object.entries((filter ?? {}) as object)
      .map(([name, value]) => `${nameOf(name)}: ${value}`)
      .join(', ');
}
