import type { AlertSentence, ResultCode } from '@perennial/service/problems';
import type { Language } from './language.ts';
import { chineseWord, refusalText } from './refusals.ts';

/** What the service says of alerts and of results, by its code, in Chinese: in English it says it itself. Blanks from 1. */
export const CHINESE_SENTENCES: Readonly<Record<AlertSentence | ResultCode, string>> = {
  'debit-unknown-for-a-day': '仍为{1}',
  'debit-unknown-for-a-day|not-asked': '无法查询',
  'debit-unknown-for-a-day|resolved': '扣款已有结果',
  'debit-wrong-amount': '应扣 {1} 分，实扣 {2} 分',
  'debit-wrong-amount|resolved': '后续上报已入账',
  'debit-late-success': '先判定为{1}，后上报{2}',
  'debit-contradiction': '先判定为{1}，后上报{2}',
  'debit-after-unsubscribe': '扣款途中订单被退订',
  'debit-after-unsubscribe|resolved': '该期已全额退款',
  'refund-unknown-for-a-day': '仍为{1}',
  'refund-unknown-for-a-day|not-settled': '无法处理',
  'refund-unknown-for-a-day|resolved': '退款已有结果',
  'refund-wrong-amount': '应退 {1} 分，实退 {2} 分',
  'refund-wrong-amount|resolved': '后续上报已入账',
  'refund-refused|resolved': '该期后续退款已成功',
  'refund-contradiction': '先判定为{1}，后上报{2}',
  'billing-failed': '数据库拒绝写入该期：{1}',
  'billing-failed|resolved': '该期已写入，或订单已结束',
  'upcoming-notice-failed': '数据库拒绝写入该事件：{1}',
  'upcoming-notice-failed|resolved': '该事件已写入，或无需再发送',
  'notice-for-unknown-attempt': '来自 {1}',
  'notice-for-unknown-agreement': '来自 {1}',
  'agreement-cancel-failed': '无应答',
  'agreement-cancel-failed|not-asked': '无法发起',
  'agreement-cancel-failed|resolved': '机构已解约',
  'agreement-number-of-another-channel': '在 {1} 共享',
  'agreement-number-of-another-channel|in-force': '在 {1} 共享；{3} 的 {2} 正在使用该号码',
  'agreement-number-of-another-channel|resolved': '其他渠道已不再使用该号码，或已允许共用',
  'webhook-given-up': '一次放弃 {1} 个',
  'webhook-given-up|resolved': '放弃的事件已全部处理',
  'pool-empty': '有领取在等待导入兑换码',
  'pool-empty|resolved': '所有领取均已发码',
  'pool-low': '剩余 {1} 个，低于 {2} 个',
  'pool-low|resolved': '库存已充足，或不再需要',
  'claim-refused|resolved': '该领取已发码',
  'claim-unknown-for-a-day': '供应商未告知结果',
  'claim-unknown-for-a-day|not-asked': '无法向供应商查询',
  'claim-unknown-for-a-day|resolved': '该领取已发码',
  'reconciliation-difference': '未关闭：{1}',
  'reconciliation-difference|resolved': '当日差异已全部关闭',
  'reconciliation-failed': '原因见日志',
  'reconciliation-failed|resolved': '当日已完成对账',
  'undecryptable-fields': '一分钟内 {1} 个加密字段无法解密',
  'institution-silent': '自 {1} 起无应答，已有 {2} 次调用失败',
  'institution-silent|resolved': '机构已恢复应答',
  'database-full': '写入失败（{1}）：磁盘已满或磁盘故障',
  'database-full|resolved': '所有节点均可正常写入',
  'bridge-currency': '网桥为 {1}，本系统为 {2}',
  'bridge-currency|resolved': '网桥币种已与本系统一致',
  'due-now': '已设为立即到期',
  'due-already': '此前已到期',
  'order-is': '订单{1}',
  'order-was': '订单此前{1}',
  'debit-succeeded': '扣款成功',
  'debit-failed': '扣款失败：{1}',
  'events-queued': '待重推事件：{1} 个',
  'event-accepted': '渠道已接收',
  'event-given-up': '渠道未接收，不再推送',
  'event-no-callback': '渠道未设置回调地址',
  'sent-again': '已重推',
  'events-sent-again': '已重推 {1} 个事件',
  'refund-is': '退款 {1}：{2}',
  'run-started': '批量任务 {1} 已启动',
  'run-canceled': '批量任务已取消',
  fault: '发生故障，请查看订单与日志',
};

/** As the API has it: which sentence, or which refusal, and what fills it. */
export interface Said {
  readonly code: string;
  readonly values: readonly string[];
}

/** Whether it is a step that has said no. */
export const isRefusal = (said: Said | null | undefined): boolean => Boolean(said && !(said.code in CHINESE_SENTENCES));

/** A text of the service in the language of the page. What it does not know by a code is shown as it is. */
export function saidText(text: string, said: Said | null | undefined, language: Language): string {
  if (!said) return text;
  if (language === 'en') return isRefusal(said) ? text : inWords(text);
  const sentence = (CHINESE_SENTENCES as Readonly<Record<string, string>>)[said.code];
  if (sentence === undefined) return refusalText({ detail: text, ...said }, language);
  return sentence.replaceAll(/\{(\d)\}/g, (_, blank: string) => wordsIn(said.values[Number(blank) - 1] ?? ''));
}

/** The few codes that stand in the service's own sentences, as people say them. */
const ENGLISH_WORDS: Readonly<Record<string, string>> = {
  MISSING_HERE: 'only in the statement',
  MISSING_THERE: 'only here',
  AMOUNT: 'of another amount',
  STATE: 'in another state',
  DUPLICATE: 'twice',
  STARTED: 'under way',
  SUCCESS: 'successful',
  FAIL: 'failed',
  UNSUBSCRIBED: 'unsubscribed',
  COMPLETED: 'completed',
  TERMINATED: 'terminated',
};

const inWords = (text: string): string => {
  const words = text.replaceAll(/\b[A-Z_]{4,}\b/g, (word) => ENGLISH_WORDS[word] ?? word);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
};

/** Some values are several: 2 AMOUNT, 1 STATE. */
const wordsIn = (value: string): string => value.replaceAll(/[A-Za-z_]+/g, (word) => chineseWord(word) ?? word);
