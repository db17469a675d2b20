import type { NextStep, Order } from '../../../api/order-types.ts';
import { now } from '../../../clock.ts';
import { dictionary } from '../../../i18n/dictionary.ts';
import { BEIJING, momentOf, timeText } from '../../../parts/values/time-text.ts';
import { cardinalText, ordinalText } from './number-words.ts';

/** By what happens; `now` is for what is due already. */
const STEPS = {
  debit: ['Period {cycleNo} is debited on {time}', '第 {cycleNo} 期将于 {time} 扣款'],
  'debit now': ['Period {cycleNo} is debited any moment', '第 {cycleNo} 期即将扣款'],
  bill: ['Period {cycleNo} is billed on {time}', '第 {cycleNo} 期将于 {time} 出账'],
  'bill now': ['Period {cycleNo} is billed any moment', '第 {cycleNo} 期即将出账'],
  retry: [
    'Period {cycleNo} is debited again on {time}, {nth} of {tries} retries',
    '第 {cycleNo} 期将于 {time} 再次扣款（共 {tries} 次重试中的第 {nth} 次）',
  ],
  'retry now': [
    'Period {cycleNo} is debited again any moment, {nth} of {tries} retries',
    '第 {cycleNo} 期即将再次扣款（共 {tries} 次重试中的第 {nth} 次）',
  ],
  'retry only': [
    'Period {cycleNo} is debited again on {time}, the only retry',
    '第 {cycleNo} 期将于 {time} 再次扣款（仅此一次重试）',
  ],
  expire: [
    'Period {cycleNo} fails for good on {time}: the period after it is due then',
    '第 {cycleNo} 期将于 {time} 最终失败：届时下一期到期',
  ],
  complete: ['The order is completed on {time}, when its last period ends', '订单将于 {time} 完成（最后一期结束）'],
  'wait-for-institution': [
    'The institution is asked on {time} what became of the debit of period {cycleNo}',
    '将于 {time} 向机构查询第 {cycleNo} 期扣款结果',
  ],
  'wait-for-institution now': [
    'The institution is being asked what became of the debit of period {cycleNo}',
    '正在向机构查询第 {cycleNo} 期扣款结果',
  ],
} as const;
const useStepTexts = dictionary(STEPS);

const useTexts = dictionary({
  UNSUBSCRIBED: ['Nothing more is collected: {who} unsubscribed on {time}', '不再收款：{who}于 {time} 退订'],
  COMPLETED: ['All {count} periods are over; nothing follows', '全部 {count} 期已结束，无后续动作'],
  TERMINATED: [
    'The order was terminated: its first debit failed. Nothing follows',
    '订单已终止：首期扣款失败，无后续动作',
  ],
  INITIALIZING: ['The first payment is still to succeed', '等待首期支付成功'],
  ACTIVE: ['Nothing is planned', '暂无计划'],
});

export const useSourceTexts = dictionary({
  CHANNEL: ['the channel', '渠道'],
  USER: ['the user', '用户'],
  OPERATIONS: ['an operator', '运营人员'],
  AGREEMENT_INVALID: ['the end of the agreement', '签约失效'],
});

/** What happens next by itself, as a sentence; and when nothing does, why. */
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

const momentText = (value: string) => timeText(momentOf(value), BEIJING);

/** For the timeline, where the same step stands as an entry. */
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
