import type { NextStep, Order } from '../../api/order-types.ts';
import { now } from '../../clock.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { BEIJING, momentOf, timeText } from '../../parts/time-text.ts';
import { cardinalText, ordinalText } from './number-words.ts';

const useTexts = dictionary({
  debit: ['Period {cycleNo} is debited on {time}', '第 {cycleNo} 期将于 {time} 扣款'],
  debitNow: ['Period {cycleNo} is debited any moment', '第 {cycleNo} 期即将扣款'],
  bill: ['Period {cycleNo} is billed on {time}', '第 {cycleNo} 期将于 {time} 出账'],
  billNow: ['Period {cycleNo} is billed any moment', '第 {cycleNo} 期即将出账'],
  retry: [
    'Period {cycleNo} is debited again on {time}, {nth} of {tries} retries',
    '第 {cycleNo} 期将于 {time} 再次扣款（共 {tries} 次重试中的第 {nth} 次）',
  ],
  retryNow: [
    'Period {cycleNo} is debited again any moment, {nth} of {tries} retries',
    '第 {cycleNo} 期即将再次扣款（共 {tries} 次重试中的第 {nth} 次）',
  ],
  retryOnly: [
    'Period {cycleNo} is debited again on {time}, the only retry',
    '第 {cycleNo} 期将于 {time} 再次扣款（仅此一次重试）',
  ],
  expire: [
    'Period {cycleNo} fails for good on {time}: the period after it is due then',
    '第 {cycleNo} 期将于 {time} 最终失败：届时下一期到期',
  ],
  complete: ['The order is completed on {time}, when its last period ends', '订单将于 {time} 完成（最后一期结束）'],
  ask: [
    'The institution is asked on {time} what became of the debit of period {cycleNo}',
    '将于 {time} 向机构查询第 {cycleNo} 期扣款结果',
  ],
  askNow: [
    'The institution is being asked what became of the debit of period {cycleNo}',
    '正在向机构查询第 {cycleNo} 期扣款结果',
  ],
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
  const sourceText = useSourceTexts();
  return (next, order) => {
    const { orderStatus, unsubscribeTime, unsubscribeSource, totalCycles } = order;
    if (next) return nextWords(t, next);
    if (orderStatus === 'UNSUBSCRIBED')
      return t('UNSUBSCRIBED', {
        who: sourceText((unsubscribeSource ?? 'CHANNEL') as Parameters<typeof sourceText>[0]),
        time: unsubscribeTime ? momentText(unsubscribeTime) : '–',
      });
    if (orderStatus === 'COMPLETED') return t('COMPLETED', { count: totalCycles });
    return t(orderStatus);
  };
}

const momentText = (value: string) => timeText(momentOf(value), BEIJING);

/** For the timeline, where the same step stands as an entry. */
export function useStepWords(): (next: NextStep) => string {
  const t = useTexts();
  return (next) => nextWords(t, next);
}

function nextWords(t: ReturnType<typeof useTexts>, next: NextStep): string {
  const { what, at, tryNo, tries } = next;
  const cycleNo = next.cycleNo ?? 0;
  const time = momentText(at);
  const isNow = momentOf(at).getTime() <= now();
  switch (what) {
    case 'debit':
      return isNow ? t('debitNow', { cycleNo }) : t('debit', { cycleNo, time });
    case 'bill':
      return isNow ? t('billNow', { cycleNo }) : t('bill', { cycleNo, time });
    case 'retry': {
      if (tries === 1 && !isNow) return t('retryOnly', { cycleNo, time });
      const which = { nth: ordinalText(tryNo ?? 1), tries: cardinalText(tries ?? 1) };
      return isNow ? t('retryNow', { cycleNo, ...which }) : t('retry', { cycleNo, time, ...which });
    }
    case 'expire':
      return t('expire', { cycleNo, time });
    case 'complete':
      return t('complete', { time });
    case 'wait-for-institution':
      return isNow ? t('askNow', { cycleNo }) : t('ask', { cycleNo, time });
  }
}
