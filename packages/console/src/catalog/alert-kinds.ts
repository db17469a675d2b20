import { dictionary } from '../i18n/dictionary.ts';

type Text = readonly [en: string, zh: string];

/** Each kind of alert: its name, what it means, and what to do about it. The long form is in docs/alerts.md. */
const KINDS = {
  'debit-unknown-for-a-day': [
    ['Debit without a result', '扣款无结果'],
    ['The institution has not said for 24 hours what became of a debit.', '机构 24 小时未告知扣款结果。'],
    [
      'Ask it by other means. The service goes on asking, and settles what it hears.',
      '请通过其他方式向机构查询。系统会继续查询并按结果入账。',
    ],
  ],
  'debit-wrong-amount': [
    ['Debit of a wrong amount', '扣款金额不符'],
    [
      'A success over another amount than was asked for was reported. It settles nothing.',
      '机构上报的成功金额与请求不符，未入账。',
    ],
    ['Have it corrected at the institution.', '请联系机构更正。'],
  ],
  'debit-late-success': [
    ['Debit succeeded late', '扣款延迟成功'],
    [
      'A debit that was settled as failed was then reported as successful. The period is paid, and is not tried again.',
      '已判定失败的扣款后续上报成功，本期已支付，不再重试。',
    ],
    ['Look for it in the institution’s statement, then acknowledge.', '请在机构对账单中核实后确认。'],
  ],
  'debit-contradiction': [
    ['Contradicting debit result', '扣款结果矛盾'],
    [
      'A debit was settled one way, and later reported the other way. Nothing was changed.',
      '扣款先后上报的结果矛盾，未做更改。',
    ],
    ['Find out at the institution which is true, then acknowledge.', '请向机构核实后确认。'],
  ],
  'debit-after-unsubscribe': [
    ['Debit after unsubscribing', '退订后扣款'],
    ['A renewal that was on its way when its order was unsubscribed has succeeded.', '退订时在途的续费扣款已成功。'],
    ['The user has the benefits. Refund the period, if that is fair.', '用户已获得权益；如合理，请退款。'],
  ],
  'refund-unknown-for-a-day': [
    ['Refund without a result', '退款无结果'],
    ['The institution has not said for 24 hours what became of a refund.', '机构 24 小时未告知退款结果。'],
    [
      'Ask it by other means. The service goes on asking, and settles what it hears.',
      '请通过其他方式向机构查询。系统会继续查询并按结果入账。',
    ],
  ],
  'refund-wrong-amount': [
    ['Refund of a wrong amount', '退款金额不符'],
    [
      'A success over another amount than was asked for was reported. It settles nothing.',
      '机构上报的成功金额与请求不符，未入账。',
    ],
    ['Have it corrected at the institution.', '请联系机构更正。'],
  ],
  'refund-refused': [
    ['Refund refused', '退款被拒'],
    ['The institution refused a refund. Nothing was changed.', '机构拒绝退款，未做更改。'],
    ['The detail says why. Another refund may be tried.', '详情中有原因，可再次发起退款。'],
  ],
  'refund-contradiction': [
    ['Contradicting refund result', '退款结果矛盾'],
    [
      'A refund was settled one way, and later reported the other way. Nothing was changed.',
      '退款先后上报的结果矛盾，未做更改。',
    ],
    ['Find out at the institution which is true, then acknowledge.', '请向机构核实后确认。'],
  ],
  'billing-failed': [
    ['Period cannot be written', '账期无法写入'],
    ['The next period of an order that the channel collects cannot be written.', '渠道代收订单的下一期无法写入。'],
    [
      'Compare the order with its periods. It stays due and is tried again; other orders go on.',
      '请核对订单与账期。该订单会持续重试，其他订单不受影响。',
    ],
  ],
  'upcoming-notice-failed': [
    ['Notice before a debit cannot be written', '扣款前通知无法写入'],
    ['The event before the next period of an order cannot be written.', '订单下一期扣款前的通知事件无法写入。'],
    [
      'Look at the order. It is tried again; other orders go on, and the period is debited or billed as planned.',
      '请核对订单。系统会持续重试，其他订单不受影响，该期仍按计划扣款或计费。',
    ],
  ],
  'notice-for-unknown-attempt': [
    ['Notice about an unknown debit', '未知扣款的通知'],
    [
      'A rightly signed notice is about a debit that the payment channel does not have.',
      '收到签名正确、但通道中不存在的扣款通知。',
    ],
    ['Find out at the bridge where the number comes from, then acknowledge.', '请向通道侧核实编号来源后确认。'],
  ],
  'notice-for-unknown-agreement': [
    ['Notice about an unknown agreement', '未知协议的通知'],
    [
      'A rightly signed notice says that an agreement has ended which the payment channel does not have.',
      '收到签名正确、但通道中不存在的解约通知。',
    ],
    ['Find out at the bridge which one it was, then acknowledge.', '请向通道侧核实后确认。'],
  ],
  'agreement-cancel-failed': [
    ['Agreement not canceled', '协议解约失败'],
    ['The institution did not cancel an agreement that has ended here.', '本地已结束的协议未被机构解约。'],
    ['If the tries have ended, cancel it there by hand.', '如重试已结束，请在机构侧手工解约。'],
  ],
  'agreement-number-of-another-channel': [
    ['Agreement number of another channel', '协议号属于其他渠道'],
    [
      'A channel tried to share a number that another channel has in force. It was refused; nobody was debited.',
      '渠道试图共享其他渠道在用的协议号，已拒绝，未扣款。',
    ],
    [
      'Ask both channels whose it is. If it is both’s, allow common numbers for the payment channel.',
      '请向双方核实；如确属共用，可在支付通道允许共用号码。',
    ],
  ],
  'webhook-given-up': [
    ['Events given up', '事件已放弃推送'],
    [
      'Events of the channel were refused eleven times and are not sent any more.',
      '该渠道的事件被拒 11 次，不再推送。',
    ],
    ['See what was answered; once the channel is well, replay them.', '请查看应答；渠道恢复后重推。'],
  ],
  'pool-empty': [
    ['No codes left', '兑换码已用尽'],
    ['Somebody claimed a benefit and no code was left. The claim waits.', '用户领取权益时无可用兑换码，领取等待中。'],
    ['Import codes: what waits is served first.', '请导入兑换码，等待中的领取优先发放。'],
  ],
  'pool-low': [
    ['Few codes left', '兑换码库存不足'],
    ['Fewer codes are left than the threshold of the benefit.', '剩余兑换码低于预警值。'],
    ['Import codes before they run out.', '请在用尽前导入兑换码。'],
  ],
  'claim-refused': [
    ['Claim refused by the supplier', '供应商拒绝发放'],
    ['The supplier refused a claim. It is asked again every hour.', '供应商拒绝发放，系统每小时重试。'],
    ['The detail says why. Talk to the supplier.', '详情中有原因，请联系供应商。'],
  ],
  'claim-unknown-for-a-day': [
    ['Claim without a result', '领取无结果'],
    ['The supplier has not said for 24 hours what became of a claim.', '供应商 24 小时未告知领取结果。'],
    ['Ask it by other means. The service goes on asking.', '请通过其他方式查询，系统会继续查询。'],
  ],
  'reconciliation-difference': [
    ['Statement differs', '对账存在差异'],
    ['An institution’s statement differs from what is known here.', '机构对账单与本地记录不一致。'],
    ['Look at the differences of the day, and close each with a note.', '请查看当日差异，逐条填写说明后关闭。'],
  ],
  'reconciliation-failed': [
    ['Reconciliation failed', '对账失败'],
    [
      'The bridge gave no statement that could be used, or comparing it failed. It is tried again every hour.',
      '未取得可用对账单或比对失败，系统每小时重试。',
    ],
    ['Or compare the day with a file.', '也可上传对账文件比对。'],
  ],
  'undecryptable-fields': [
    ['Fields that cannot be read', '加密字段无法解密'],
    ['Twenty encrypted fields of the channel within a minute could not be read.', '一分钟内 20 个加密字段无法解密。'],
    ['The channel probably uses a wrong key. Tell it, then acknowledge.', '渠道可能使用了错误的密钥，请告知后确认。'],
  ],
  'institution-silent': [
    ['Institution does not answer', '机构无应答'],
    [
      'Every call to the institution of a payment channel has failed for minutes. Debits and refunds wait for their result.',
      '支付通道的机构调用已连续数分钟全部失败，扣款与退款正等待结果。',
    ],
    [
      'Look at the bridge, then ask the institution. Calls are repeated, and the alert ends with the first answer.',
      '请先检查桥接程序，再联系机构。系统会继续调用，机构恢复应答后告警自动结束。',
    ],
  ],
  'database-full': [
    ['Database cannot write', '数据库无法写入'],
    [
      'Writes fail because the database has no room on its disk. Nodes are not ready, and requests are refused.',
      '数据库磁盘空间不足，写入失败。节点已停止接收请求，新请求会被拒绝。',
    ],
    ['Free space, or add some. The nodes go on by themselves.', '请清理或扩容磁盘，节点会自动恢复。'],
  ],
  'bridge-currency': [
    ['Bridge with another currency', '网桥币种不一致'],
    [
      'The bridge of the payment channel has another currency than this installation. Nothing is asked of it.',
      '支付渠道网桥的币种与本系统不一致，系统不向其发送任何请求。',
    ],
    [
      'Set the bridge to the currency of this installation. What waits is then sent.',
      '请将网桥设为本系统的币种，等待中的请求随后会发送。',
    ],
  ],
} as const satisfies Readonly<Record<string, readonly [name: Text, meaning: Text, remedy: Text]>>;

type Kind = keyof typeof KINDS;
export const ALERT_KINDS = Object.keys(KINDS) as Kind[];

type Column = Readonly<Record<Kind, Text>>;
const column = (at: 0 | 1 | 2): Column =>
  Object.fromEntries(ALERT_KINDS.map((kind) => [kind, KINDS[kind][at]])) as unknown as Column;
const useNames = dictionary(column(0));
const useMeanings = dictionary(column(1));
const useRemedies = dictionary(column(2));

const isKnown = (kind: string): kind is Kind => kind in KINDS;

/** The words for a kind. One that a later release raises is shown by its own name. */
export function useAlertTexts() {
  const [names, meanings, remedies] = [useNames(), useMeanings(), useRemedies()];
  return {
    name: (kind: string) => (isKnown(kind) ? names(kind) : kind),
    meaning: (kind: string) => (isKnown(kind) ? meanings(kind) : undefined),
    remedy: (kind: string) => (isKnown(kind) ? remedies(kind) : undefined),
  };
}
