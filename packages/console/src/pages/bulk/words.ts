import { dictionary } from '../../i18n/dictionary.ts';

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

export const useFilterNames = dictionary({
  status: ['Status', '状态'],
  reason: ['Reason', '原因'],
  paymentChannelCode: ['Institution', '支付机构'],
  appId: ['Channel', '渠道'],
  productCode: ['Product', '产品'],
  from: ['From', '从'],
  to: ['To', '至'],
  settlementMode: ['Mode', '结算模式'],
  createdFrom: ['Created from', '创建时间从'],
  createdTo: ['Created to', '创建时间至'],
  dueFrom: ['Due from', '扣款时间从'],
  dueTo: ['Due to', '扣款时间至'],
  failed: ['Latest payment failed', '最近一期失败'],
  unsettled: ['No final result yet', '尚无最终结果'],
  channelUserId: ['User', '用户'],
  eventType: ['Event type', '事件类型'],
  orderNo: ['Order', '订单'],
});
