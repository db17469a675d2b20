import type { AlertSentence, ResultCode } from '@perennial/service/problems';
import type { Language } from './language.ts';
import { chineseWord, englishWord, refusalText } from './refusals.ts';

/** Chinese texts of alerts and results by code, with the values as {1}, {2}. The service supplies the English texts. */
export const CHINESE_SENTENCES: Readonly<Record<AlertSentence | ResultCode, string>> = {
  'debit-unknown-for-a-day': '仍为{1}',
  'debit-unknown-for-a-day|not-asked': '无法查询',
  'debit-unknown-for-a-day|resolved': '扣款已有结果',
  'debit-wrong-amount': '请求扣款 {1}，实际扣款 {2}',
  'debit-wrong-amount|resolved': '已按后续返回的结果入账',
  'debit-late-success': '已记为{1}，后返回{2}',
  'debit-contradiction': '已记为{1}，后返回{2}',
  'debit-after-unsubscribe': '扣款处理中订单被退订',
  'debit-after-unsubscribe|resolved': '该期已全额退款',
  'refund-unknown-for-a-day': '仍为{1}',
  'refund-unknown-for-a-day|not-settled': '无法处理',
  'refund-unknown-for-a-day|resolved': '退款已有结果',
  'refund-wrong-amount': '请求退款 {1}，实际退款 {2}',
  'refund-wrong-amount|resolved': '已按后续返回的结果入账',
  'refund-refused|resolved': '该期后续退款已成功，或已登记系统外退款',
  'refund-contradiction': '已记为{1}，后返回{2}',
  'billing-failed': '写入该期失败：{1}',
  'billing-failed|resolved': '该期已写入，或订单已结束',
  'upcoming-notice-failed': '写入该事件失败：{1}',
  'upcoming-notice-failed|resolved': '该事件已写入，或无需再发送',
  'notice-for-unknown-attempt': '来自 {1}',
  'notice-for-unknown-agreement': '来自 {1}',
  'agreement-cancel-failed': '无应答',
  'agreement-cancel-failed|not-asked': '无法发起',
  'agreement-cancel-failed|resolved': '支付机构已解约',
  'agreement-number-of-another-channel': '通过 {1} 共享',
  'agreement-number-of-another-channel|in-force': '通过 {1} 共享；渠道 {3} 的协议 {2} 正在使用该协议号',
  'agreement-number-of-another-channel|resolved': '其他渠道已不再使用该协议号，或已允许共用',
  'order-number-of-another-channel': '两个渠道使用了相同的 externalOrderNo，后一笔下单已拒绝',
  'webhook-given-up': '放弃推送 {1} 个事件',
  'webhook-given-up|resolved': '已放弃的事件均已处理',
  'webhook-failing': '{1} 自 {2} 起未成功接收推送，已失败 {3} 次',
  'webhook-failing|resolved': '推送已恢复，或回调地址已更换、已暂停',
  'pool-empty': '领取等待发码，请导入兑换码',
  'pool-empty|resolved': '等待中的领取均已发码',
  'pool-low': '剩余 {1} 个，低于 {2} 个',
  'pool-low|resolved': '库存已充足、不再需要，或已有领取等待发码',
  'claim-refused|resolved': '该领取已发码',
  'claim-unknown-for-a-day': '供应商未返回结果',
  'claim-unknown-for-a-day|not-asked': '无法向供应商查询',
  'claim-unknown-for-a-day|resolved': '该领取已发码',
  'reconciliation-difference': '未关闭：{1}',
  'reconciliation-difference|resolved': '当日差异已全部关闭',
  'reconciliation-failed': '原因见系统日志',
  'reconciliation-failed|resolved': '当日已完成对账',
  'undecryptable-fields': '一分钟内 {1} 个加密字段解密失败',
  'sign-in-failures': '一分钟内 {1} 次登录失败，涉及 {2} 个用户名、{3} 个地址',
  'no-second-admin': '由 {1} 创建，未经第二位管理员批准',
  'no-second-admin|reset': '由 {1} 重置，未经第二位管理员批准',
  'institution-silent': '自 {1} 起无应答，已有 {2} 次调用失败',
  'institution-silent|resolved': '支付机构已恢复应答',
  'institution-declining': '自 {1} 起，{2} 笔有结果的扣款全部被拒绝',
  'institution-declining|resolved': '已有扣款成功',
  'database-full': '写入失败（{1}）：磁盘已满或磁盘故障',
  'database-full|resolved': '所有节点均可正常写入',
  'clock-wrong': '节点时钟与数据库时钟相差 {1} 秒',
  'clock-wrong|resolved': '时钟已恢复正常，或节点已停止',
  'bridge-currency': '桥接服务为 {1}，平台为 {2}',
  'bridge-currency|resolved': '桥接服务币种已与平台一致',
  'peer-refused': '地址或密钥在数据库中被改动，系统已停止向其发送请求',
  'peer-refused|not-https': '地址不是 https，系统已停止向其发送请求',
  'audit-chain-broken': '第 {1} 条或之前的日志被篡改或删除，异常共 {2} 条',
  'audit-chain-broken|not-verified': '审计日志已有一小时未能校验，可能有会话持有锁',
  'audit-chain-broken|unsealed': '第 {1} 条日志没有签章，异常共 {2} 条',
  'audit-chain-broken|replaced': '第 {1} 条日志的签章错误，或此前存在的该条日志已缺失，异常共 {2} 条',
  'due-now': '已设为立即扣款',
  'due-already': '已到扣款时间',
  'order-is': '订单{1}',
  'order-was': '订单此前{1}',
  'debit-succeeded': '扣款成功',
  'debit-failed': '扣款失败：{1}',
  'events-queued': '待重推 {1} 个事件',
  'event-accepted': '渠道已接收',
  'event-given-up': '渠道未接收，已停止推送',
  'event-no-callback': '渠道未配置回调地址',
  'sent-again': '已重推',
  'events-sent-again': '已重推 {1} 个事件',
  'refund-is': '退款 {1}：{2}',
  'run-started': '批量任务 {1} 已启动',
  'run-canceled': '批量任务已取消',
  'change-made': '已执行',
  'change-approved': '已批准，{1} 可在一天内执行',
  fault: '系统异常，请查看订单与日志',
};

/** The code of a sentence or refusal in an answer of the API, and the values for its placeholders. */
export interface Said {
  readonly code: string;
  readonly values: readonly string[];
}

/** Returns true if the code is that of a refusal, or unknown. */
export const isRefusal = (said: Said | null | undefined): boolean => Boolean(said && !(said.code in CHINESE_SENTENCES));

/** English texts with amounts. They are needed because the service's own texts give the amounts in cents. */
const ENGLISH_AMOUNTS: Readonly<Record<string, string>> = {
  'debit-wrong-amount': 'Requested {1}, debited {2}',
  'refund-wrong-amount': 'Requested {1}, refunded {2}',
};

/** Returns a text of the service in the language, or unchanged if its code is unknown. `money` formats cents. */
export function saidText(
  text: string,
  said: Said | null | undefined,
  language: Language,
  money: (cents: number) => string,
): string {
  if (!said) return text;
  if (isRefusal(said)) return refusalText({ detail: text, ...said }, language);
  const amounts = ENGLISH_AMOUNTS[said.code];
  if (language === 'en' && amounts === undefined) return inWords(text);
  const sentence = (language === 'en' ? amounts : CHINESE_SENTENCES[said.code as AlertSentence]) ?? text;
  const valueText = (value: string) => (amounts === undefined ? wordsIn(value) : money(Number(value)));
  return sentence.replaceAll(/\{(\d)\}/g, (_, blank: string) => valueText(said.values[Number(blank) - 1] ?? ''));
}

const inWords = (text: string): string => {
  const words = text.replaceAll(/\b[A-Z_]{4,}\b/g, (word) => englishWord(word) ?? word);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
};

/** Translates every status code in a value. A value may hold several with their counts: 2 AMOUNT, 1 STATE. */
const wordsIn = (value: string): string =>
  value
    .replaceAll(/(\d{1,15}) ([A-Z]+(?:_[A-Z]+)*)(, )?/g, (text, count: string, code: string, more?: string) => {
      const word = chineseWord(code);
      return word === undefined ? text : `${word} ${count} 条${more ? '、' : ''}`;
    })
    .replaceAll(/[A-Za-z_]+/g, (word) => chineseWord(word) ?? word);
