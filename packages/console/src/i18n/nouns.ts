/** Nouns that several pages share. Each page spreads them into its own texts. */
export const NOUNS = {
  amount: ['Amount', '金额'],
  channel: ['Channel', '渠道'],
  created: ['Created', '创建时间'],
  institution: ['Institution', '支付机构'],
  mode: ['Mode', '结算模式'],
  order: ['Order', '订单'],
  orders: ['Orders', '订单'],
  paid: ['Paid', '已收款'],
  period: ['Period', '期数'],
  product: ['Product', '产品'],
  reason: ['Reason', '原因'],
  refunded: ['Refunded', '已退款'],
  status: ['Status', '状态'],
  time: ['Time', '时间'],
  user: ['User', '用户'],
} as const;
