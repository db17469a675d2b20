import { dictionary } from '../i18n/dictionary.ts';

type Text = readonly [en: string, zh: string];

/** The name, meaning and remedy of each kind of alert. docs/alerts.md has the long form. */
const KINDS = {
  'debit-unknown-for-a-day': [
    ['Debit without a result', '扣款结果未知'],
    ['The institution has not reported the result of a debit for 24 hours.', '支付机构超过 24 小时未返回扣款结果。'],
    [
      'Ask the institution directly. The service keeps querying and settles the debit by the result.',
      '请直接联系支付机构核实。系统会继续查询，并按结果入账。',
    ],
  ],
  'debit-wrong-amount': [
    ['Debit of a wrong amount', '扣款金额不符'],
    [
      'The institution reported a success with an amount other than the requested one. The debit is not settled.',
      '支付机构返回扣款成功，但金额与请求金额不符，未入账。',
    ],
    ['Have the institution correct it.', '请联系支付机构更正。'],
  ],
  'debit-late-success': [
    ['Debit succeeded late', '扣款延迟成功'],
    [
      'A debit that was settled as failed was later reported as successful. The period is paid and is not retried.',
      '扣款已记为失败，后又返回成功。该期已支付，不再重试。',
    ],
    ['Find the debit in the institution’s statement, then acknowledge.', '请在支付机构的对账单中核实，再确认告警。'],
  ],
  'debit-contradiction': [
    ['Contradicting debit results', '扣款结果矛盾'],
    [
      'The institution reported a result that contradicts the settled one. Nothing was changed.',
      '支付机构先后返回的扣款结果不一致，系统未做更改。',
    ],
    ['Ask the institution which result is right, then acknowledge.', '请向支付机构核实正确结果，再确认告警。'],
  ],
  'debit-after-unsubscribe': [
    ['Debit after unsubscribing', '退订后扣款成功'],
    [
      'A renewal debit was in flight when its order was unsubscribed, and has succeeded.',
      '退订时已发出的续费扣款，之后扣款成功。',
    ],
    ['The user has the benefits. Refund the period if appropriate.', '用户已获得该期权益，请视情况退款。'],
  ],
  'refund-unknown-for-a-day': [
    ['Refund without a result', '退款结果未知'],
    ['The institution has not reported the result of a refund for 24 hours.', '支付机构超过 24 小时未返回退款结果。'],
    [
      'Ask the institution directly. The service keeps querying and settles the refund by the result.',
      '请直接联系支付机构核实。系统会继续查询，并按结果入账。',
    ],
  ],
  'refund-wrong-amount': [
    ['Refund of a wrong amount', '退款金额不符'],
    [
      'The institution reported a success with an amount other than the requested one. The refund is not settled.',
      '支付机构返回退款成功，但金额与请求金额不符，未入账。',
    ],
    ['Have the institution correct it.', '请联系支付机构更正。'],
  ],
  'refund-refused': [
    ['Refund refused', '退款被拒绝'],
    ['The institution refused a refund. Nothing was changed.', '支付机构拒绝退款，系统未做更改。'],
    ['See the detail for the reason. You can refund again.', '原因见详情，可重新发起退款。'],
  ],
  'refund-contradiction': [
    ['Contradicting refund results', '退款结果矛盾'],
    [
      'The institution reported a result that contradicts the settled one. Nothing was changed.',
      '支付机构先后返回的退款结果不一致，系统未做更改。',
    ],
    ['Ask the institution which result is right, then acknowledge.', '请向支付机构核实正确结果，再确认告警。'],
  ],
  'billing-failed': [
    ['Period cannot be stored', '账期写入失败'],
    ['The next period of an order that the channel collects cannot be stored.', '渠道代收订单的下一期无法写入数据库。'],
    [
      'Compare the order with its periods. The service keeps retrying; other orders are not affected.',
      '请核对订单与账期。系统会持续重试，其他订单不受影响。',
    ],
  ],
  'upcoming-notice-failed': [
    ['Debit notice cannot be stored', '扣款前通知写入失败'],
    [
      'The notice event before the next period of an order cannot be stored.',
      '订单下一期的扣款前通知事件无法写入数据库。',
    ],
    [
      'Check the order. The service keeps retrying; other orders and the debit itself are not affected.',
      '请核对订单。系统会持续重试，其他订单及该期扣款、出账不受影响。',
    ],
  ],
  'notice-for-unknown-attempt': [
    ['Notice about an unknown debit', '未知扣款的通知'],
    [
      'A correctly signed notice names a debit that this payment channel does not have.',
      '收到验签通过的扣款通知，但该支付通道下没有这笔扣款。',
    ],
    ['Check at the bridge where the number comes from, then acknowledge.', '请在桥接服务侧核实单号来源，再确认告警。'],
  ],
  'notice-for-unknown-agreement': [
    ['Notice about an unknown agreement', '未知协议的通知'],
    [
      'A correctly signed notice ends an agreement that this payment channel does not have.',
      '收到验签通过的解约通知，但该支付通道下没有这份协议。',
    ],
    ['Check at the bridge which agreement it was, then acknowledge.', '请在桥接服务侧核实对应协议，再确认告警。'],
  ],
  'agreement-cancel-failed': [
    ['Agreement not canceled', '解约失败'],
    ['The institution did not cancel an agreement that has ended here.', '协议在平台已终止，但支付机构未完成解约。'],
    [
      'If the retries have ended, cancel the agreement at the institution by hand.',
      '如重试已结束，请到支付机构手工解约。',
    ],
  ],
  'agreement-number-of-another-channel': [
    ['Agreement number of another channel', '协议号属于其他渠道'],
    [
      'A channel tried to share an agreement number that another channel uses. The call was refused; no debit was made.',
      '渠道试图共享其他渠道正在使用的协议号，已拒绝，未扣款。',
    ],
    [
      'Ask both channels who owns the number. If they share it, allow shared numbers in the payment channel.',
      '请向两个渠道核实归属；如确为共用，可在支付通道中允许共用协议号。',
    ],
  ],
  'order-number-of-another-channel': [
    ['Order number of another channel', '订单号已被其他渠道使用'],
    [
      'A channel tried to create an order under an externalOrderNo that another channel uses. The order was refused.',
      '渠道下单使用的 externalOrderNo 已被其他渠道使用，已拒绝下单。',
    ],
    [
      'Ask the first channel to prefix its order numbers with its name. Many refusals may be an attempt to probe numbers.',
      '请前一个渠道在订单号前加上自己的前缀；如拒绝次数很多，可能是在试探其他渠道的订单号。',
    ],
  ],
  'webhook-given-up': [
    ['Events given up', '事件推送已放弃'],
    [
      'Eleven attempts to push an event failed. The service no longer sends it.',
      '该渠道的事件推送 11 次均未成功，已停止推送。',
    ],
    [
      'Check the channel’s answers. Replay the events when the channel works again.',
      '请查看渠道应答，待渠道恢复后重推。',
    ],
  ],
  'webhook-failing': [
    ['Receiver fails', '渠道回调地址异常'],
    [
      'A callback address of the channel has accepted no event for ten minutes, while pushes fail.',
      '该渠道的回调地址持续推送失败，已有十分钟未成功接收事件。',
    ],
    [
      'Look at the last answer and notify the channel. The service keeps retrying; the next accepted push resolves the alert.',
      '请查看最近应答并通知渠道。系统会继续重试，推送成功后告警自动解除。',
    ],
  ],
  'pool-empty': [
    ['No codes left', '兑换码已用完'],
    ['A user claimed a benefit and no code was left. The claim waits.', '用户领取权益时兑换码已用完，领取等待发码。'],
    ['Import codes. Waiting claims are served first.', '请导入兑换码，等待中的领取会优先发码。'],
  ],
  'pool-low': [
    ['Few codes left', '兑换码库存不足'],
    ['Fewer codes are left than the warning threshold of the benefit.', '剩余兑换码低于该权益的预警值。'],
    ['Import codes before they run out.', '请在用完前导入兑换码。'],
  ],
  'claim-refused': [
    ['Claim refused by the supplier', '供应商拒绝发码'],
    ['The supplier refused a claim. The service retries every hour.', '供应商拒绝发码，系统每小时重试一次。'],
    ['See the detail for the reason and contact the supplier.', '原因见详情，请联系供应商。'],
  ],
  'claim-unknown-for-a-day': [
    ['Claim without a result', '领取结果未知'],
    ['The supplier has not reported the result of a claim for 24 hours.', '供应商超过 24 小时未返回领取结果。'],
    ['Ask the supplier directly. The service keeps querying.', '请直接联系供应商核实，系统会继续查询。'],
  ],
  'reconciliation-difference': [
    ['Statement differs', '对账有差异'],
    ['An institution’s statement differs from the records here.', '支付机构的对账单与平台记录不一致。'],
    ['Check the day’s differences and close each with a note.', '请核查当日差异，逐条填写处理说明后关闭。'],
  ],
  'reconciliation-failed': [
    ['Reconciliation failed', '对账失败'],
    [
      'The bridge gave no usable statement, or the comparison failed. The service retries every hour.',
      '桥接服务未提供可用的对账单，或比对失败。系统每小时重试一次。',
    ],
    ['You can also upload the statement as a file.', '也可上传对账文件进行对账。'],
  ],
  'undecryptable-fields': [
    ['Fields cannot be decrypted', '加密字段解密失败'],
    [
      'Twenty encrypted fields of the channel could not be decrypted within one minute.',
      '一分钟内该渠道有 20 个加密字段解密失败。',
    ],
    [
      'The channel probably uses a wrong key. Notify it, then acknowledge.',
      '渠道可能使用了错误的密钥，请通知渠道，再确认告警。',
    ],
  ],
  'sign-in-failures': [
    ['Many failed sign-ins', '登录失败次数过多'],
    ['Ten or more sign-ins to the console failed within one minute.', '一分钟内控制台登录失败达到 10 次或以上。'],
    [
      'Look at the names and addresses in the audit log. Block unknown addresses, then acknowledge.',
      '请在审计日志中查看用户名和地址，封禁可疑地址，再确认告警。',
    ],
  ],
  'no-second-admin': [
    ['Admin account without a second admin', '管理员账号未经双人批准'],
    [
      'One person alone created or reset the account of an admin, because no other admin could approve.',
      '因没有其他管理员可以批准，一人单独创建或重置了管理员账号。',
    ],
    [
      'Ask the owner whether they hold the account. If not, disable it. Then acknowledge.',
      '请核实该账号是否由其本人持有；如不是，请停用该账号。处理后再确认告警。',
    ],
  ],
  'institution-silent': [
    ['Institution does not answer', '支付机构无应答'],
    [
      'All calls to the institution of a payment channel have failed for minutes. Debits and refunds wait for their results.',
      '支付通道的调用已连续数分钟全部失败，扣款与退款正在等待结果。',
    ],
    [
      'Check the bridge, then ask the institution. The service keeps calling; the first answer resolves the alert.',
      '请先检查桥接服务，再联系支付机构。系统会继续调用，恢复应答后告警自动解除。',
    ],
  ],
  'institution-declining': [
    ['Institution declines every debit', '支付机构拒绝全部扣款'],
    [
      'At least 20 debits were declined within ten minutes, and none succeeded.',
      '十分钟内至少 20 笔扣款被拒绝，且无一成功。',
    ],
    [
      'Look at the reasons of failed payments. If the cause is at the institution, pause its renewals until it is fixed.',
      '请查看扣款失败的原因。如为支付机构问题，请先暂停其续费扣款。',
    ],
  ],
  'database-full': [
    ['Database cannot write', '数据库无法写入'],
    [
      'Writes fail because the database has no disk space left. Nodes are not ready, and requests are refused.',
      '数据库磁盘空间不足，写入失败。节点处于未就绪状态，请求会被拒绝。',
    ],
    ['Free or add disk space. The nodes recover automatically.', '请清理或扩容磁盘，节点会自动恢复。'],
  ],
  'clock-wrong': [
    ['Clock of a node is wrong', '节点时钟异常'],
    [
      'The clock of the node differs from the database’s by more than 30 seconds. The node refuses requests; other nodes serve them.',
      '节点时钟与数据库时钟相差超过 30 秒，该节点已停止接收请求，由其他节点处理。',
    ],
    [
      'Start NTP on the host. If several nodes are named, check the clock of the database server.',
      '请在该主机上启用 NTP 校时；若多个节点同时告警，请检查数据库服务器的时钟。',
    ],
  ],
  'bridge-currency': [
    ['Bridge uses another currency', '桥接服务币种不一致'],
    [
      'The bridge of the payment channel uses a currency other than this installation’s. No requests are sent to it.',
      '支付通道的桥接服务与平台币种不一致，系统已停止向其发送请求。',
    ],
    [
      'Set the bridge to the currency of this installation. Waiting requests are then sent.',
      '请将桥接服务改为平台币种，等待中的请求会随后发送。',
    ],
  ],
  'peer-refused': [
    ['Address of a bridge or supplier refused', '桥接服务或供应商地址被拒绝'],
    [
      'The address or the key of a bridge or supplier was changed in the database, not by the service; or an address in production is not https. Nothing is sent there.',
      '桥接服务或供应商的地址、密钥在数据库中被改动，并非通过本系统设置；或生产环境中的地址不是 https。系统已停止向其发送请求。',
    ],
    [
      'Find out who changed the database. Set the right address again, and reset the key if it may be known.',
      '请查明是谁改动了数据库，重新设置正确的地址；密钥可能泄露时请重置。',
    ],
  ],
  'audit-chain-broken': [
    ['Audit log is broken', '审计日志异常'],
    [
      'An entry of the audit log was changed or removed, or was not written by the service.',
      '审计日志中有记录被篡改、删除，或并非由系统写入。',
    ],
    [
      'Run audit verify --all and compare the first wrong entry with a backup. Find out who can write to the database.',
      '请执行 audit verify --all，将首条异常日志与备份比对，并排查拥有数据库写权限的人员。',
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

/** Returns the texts of an alert kind. A kind that a later release added is shown by its code. */
export function useAlertTexts() {
  const [names, meanings, remedies] = [useNames(), useMeanings(), useRemedies()];
  return {
    name: (kind: string) => (isKnown(kind) ? names(kind) : kind),
    meaning: (kind: string) => (isKnown(kind) ? meanings(kind) : undefined),
    remedy: (kind: string) => (isKnown(kind) ? remedies(kind) : undefined),
  };
}
