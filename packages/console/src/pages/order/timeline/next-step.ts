import type { NextStep, Order } from '../../../api/order-types.ts';
import { now } from '../../../clock.ts';
import { dictionary } from '../../../i18n/dictionary.ts';
import { BEIJING, momentOf, timeText } from '../../../parts/values/time-text.ts';
import { cardinalText, ordinalText } from './number-words.ts';

/** Texts by step. Keys with `now` are for steps that are already due. */
const STEPS = {
  debit: ['Period {cycleNo} will be debited on {time}', '第 {cycleNo} 期将于 {time} 扣款'],
  'debit now': ['Period {cycleNo} will be debited any moment', '第 {cycleNo} 期即将扣款'],
  bill: ['Period {cycleNo} will be billed on {time}', '第 {cycleNo} 期将于 {time} 出账'],
  'bill now': ['Period {cycleNo} will be billed any moment', '第 {cycleNo} 期即将出账'],
  retry: [
    'Period {cycleNo} will be debited again on {time}, {nth} of {tries} retries',
    '第 {cycleNo} 期将于 {time} 重试扣款（第 {nth} 次，共 {tries} 次）',
  ],
  'retry now': [
    'Period {cycleNo} will be debited again any moment, {nth} of {tries} retries',
    '第 {cycleNo} 期即将重试扣款（第 {nth} 次，共 {tries} 次）',
  ],
  'retry only': [
    'Period {cycleNo} will be debited again on {time}, the only retry',
    '第 {cycleNo} 期将于 {time} 重试扣款（仅重试一次）',
  ],
  expire: [
    'Period {cycleNo} will fail for good on {time}, when the next period is due',
    '第 {cycleNo} 期将于 {time} 最终失败，届时下一期到期',
  ],
  complete: ['The order will be completed on {time}', '订单将于 {time} 完成'],
  'wait-for-institution': [
    'The institution will be asked on {time} for the result of the debit of period {cycleNo}',
    '将于 {time} 向支付机构查询第 {cycleNo} 期扣款结果',
  ],
  'wait-for-institution now': [
    'The institution is being asked for the result of the debit of period {cycleNo}',
    '正在向支付机构查询第 {cycleNo} 期扣款结果',
  ],
} as const;
const useStepTexts = dictionary(STEPS);

const useTexts = dictionary({
  UNSUBSCRIBED: [
    'Nothing more will be collected: unsubscribed by {who} on {time}',
    '不再收款：已于 {time} 退订（{who}）',
  ],
  COMPLETED: ['All {count} periods are settled. No further steps', '全部 {count} 期均已完成收款或出账，无后续操作'],
  TERMINATED: ['Order terminated: its first debit failed. No further steps', '订单已终止：首期扣款失败，无后续操作'],
  INITIALIZING: ['Waiting for the first payment to succeed', '等待首期扣款成功'],
  ACTIVE: ['No steps planned', '暂无计划'],
});

export const useSourceTexts = dictionary({
  CHANNEL: ['the channel', '渠道'],
  USER: ['the user', '用户'],
  OPERATIONS: ['an operator', '操作员'],
  AGREEMENT_INVALID: ['the end of the agreement', '协议失效'],
});

/** Returns a function that says what will happen next automatically, or why nothing will happen. */
export function useNextWords(): (next: NextStep | null, order: Order) => string {
  const t = useTexts();
  const stepWords = useStepWords();
  const sourceText = useSourceTexts() as (source: string) => string;
  return (next, { orderStatus, unsubscribeTime, unsubscribeSource, totalCycles }) => {
    if (next) return stepWords(next);
    const who = sourceText(unsubscribeSource ?? 'CHANNEL');
    const time = unsubscribeTime ? momentText(unsubscribeTime) : '–';
    return t(orderStatus, { who, time, count: totalCycles });
  };
}

/** Returns the time with no-break spaces, because it is part of a sentence. */
const momentText = (value: string) => timeText(momentOf(value), BEIJING).replaceAll(' ', '\u00a0');

/** Returns a function that describes a step in words, for the timeline. */
export function useStepWords(): (next: NextStep) => string {
  const t = useStepTexts();
  return ({ what, at, cycleNo, tryNo, tries }) => {
    const isNow = momentOf(at).getTime() <= now();
    const kind = isNow ? `${what} now` : what === 'retry' && tries === 1 ? 'retry only' : what;
    return t((kind in STEPS ? kind : what) as 'retry', {
      cycleNo: cycleNo ?? 0,
      time: momentText(at),
      nth: ordinalText(tryNo ?? 1),
      tries: cardinalText(tries ?? 1),
    });
  };
}
