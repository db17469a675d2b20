import { dictionary } from '../../i18n/dictionary.ts';
import { NOUNS } from '../../i18n/nouns.ts';

export const useTexts = dictionary({
  ...NOUNS,
  caption: ['Orders, newest first', '订单，按创建时间倒序'],
  order: ['Order', '订单号'],
  userExact: ['Complete user ID', '用户 ID（完整）'],
  amount: ['Amount', '每期金额'],
  due: ['Next due', '下次扣款'],
  failed: ['Payment', '扣款结果'],
  failedTrue: ['Latest payment failed', '最近一期失败'],
  empty: ['There are no orders yet', '暂无订单'],
  emptyHint: ['The first order appears when a channel creates it.', '渠道创建首笔订单后显示在这里。'],
  emptyFiltered: ['No order matches', '没有符合条件的订单'],
  totalOrders: ['{count} order|{count} orders', '{count} 个订单'],
  totalAtLeast: ['At least {count} orders', '至少 {count} 个订单'],
  totalPaid: ['{amount} paid', '已收款 {amount}'],
  totalRefunded: ['{amount} refunded', '已退款 {amount}'],
  ofThose: ['of the first {count}', '仅统计前 {count} 个'],
  exportDone: ['{count} order exported|{count} orders exported', '已导出 {count} 个订单'],
  unsubscribe: ['Unsubscribe…', '批量退订…'],
  refund: ['Refund latest period…', '批量退款（最近一期）…'],
});
