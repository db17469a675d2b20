import type { NextStep, TimelineEntry } from '../../../api/order-types.ts';
import { useAlertTexts } from '../../../catalog/alert-kinds.ts';
import { dictionary } from '../../../i18n/dictionary.ts';
import { useEventTypeText } from '../../../parts/values/event-type.ts';
import type { StatusKind, Tone } from '../../../parts/values/status.tsx';
import { BEIJING, momentOf, timeText } from '../../../parts/values/time-text.ts';
import type { FoldedEntry } from './fold-pushes.ts';
import { useSourceTexts, useStepWords } from './next-step.ts';

/** Kinds of entries that are shown or hidden together. */
export const GROUPS = {
  money: ['period', 'attempt', 'refund'],
  events: ['event', 'push'],
  benefits: ['benefit', 'claim'],
  order: ['created', 'ended', 'agreement', 'next'],
  people: ['operator', 'note'],
  alerts: ['alert'],
} as const satisfies Readonly<Record<string, readonly TimelineEntry['kind'][]>>;
export type TimelineGroup = keyof typeof GROUPS;

export const groupOf = (kind: TimelineEntry['kind']): TimelineGroup =>
  (Object.keys(GROUPS) as TimelineGroup[]).find((group) => (GROUPS[group] as readonly string[]).includes(kind)) ??
  'order';

export const useGroupTexts = dictionary({
  money: ['Money', '资金'],
  events: ['Events', '事件'],
  benefits: ['Benefits', '权益'],
  order: ['Order', '订单'],
  people: ['Operators', '人工操作'],
  alerts: ['Alerts', '告警'],
});

/** Titles by kind, or by kind and status where the status matters. */
const TITLES = {
  created: ['Order created', '订单创建'],
  period: ['Period {cycleNo} was due', '第 {cycleNo} 期到期'],
  attempt: ['Debit of period {cycleNo} in progress, attempt {tryNo}', '第 {cycleNo} 期扣款中（第 {tryNo} 次）'],
  'attempt SUCCESS': ['Period {cycleNo} paid, attempt {tryNo}', '第 {cycleNo} 期扣款成功（第 {tryNo} 次）'],
  'attempt FAIL': ['Debit of period {cycleNo} failed, attempt {tryNo}', '第 {cycleNo} 期扣款失败（第 {tryNo} 次）'],
  refund: ['Refund of period {cycleNo} in progress', '第 {cycleNo} 期退款处理中'],
  'refund SUCCESS': ['Period {cycleNo} refunded', '第 {cycleNo} 期已退款'],
  'refund OUTSIDE': ['Period {cycleNo} refunded outside the service', '第 {cycleNo} 期系统外退款'],
  'refund FAIL': ['The institution refused a refund of period {cycleNo}', '支付机构拒绝第 {cycleNo} 期退款'],
  benefit: ['{name} issued', '发放权益 {name}'],
  claim: ['{name} claimed', '领取权益 {name}'],
  'claim PENDING': ['{name} claimed, code pending', '领取权益 {name}（待发码）'],
  event: ['Event: {what}', '事件：{what}'],
  push: ['{outcome}: {what}', '{outcome}：{what}'],
  agreement: ['Agreement signed with {institution}', '与 {institution} 签约'],
  'agreement CANCELED': ['Agreement canceled', '已解约'],
  'agreement REPLACED': ['Agreement replaced', '协议已更换'],
  ended: ['Unsubscribed by {who}', '{who}退订'],
  'ended COMPLETED': ['Order completed', '订单完成'],
  'ended TERMINATED': ['Order terminated: its first debit failed', '订单已终止：首期扣款失败'],
  note: ['Note', '备注'],
  alert: ['Alert: {alert}', '告警：{alert}'],
} as const;
const useTitles = dictionary(TITLES);

const useTexts = dictionary({
  eventById: ['event {eventId}', '事件 {eventId}'],
  pushNext: ['The channel will be notified: {what}', '将通知渠道：{what}'],
  pushAgain: [
    'The channel will be notified again, retry {retryNo}: {what}',
    '将再次通知渠道（第 {retryNo} 次重试）：{what}',
  ],
  approvedRefund: [
    'Sent the refund of period {cycleNo} that {name} requested',
    '执行 {name} 申请的第 {cycleNo} 期退款',
  ],
});

/** Actions of operators. */
const useActionTexts = dictionary({
  'order.unsubscribe': ['Unsubscribed the order', '退订订单'],
  'order.retry': ['Retried the debit of period {cycleNo}', '对第 {cycleNo} 期重新扣款'],
  'debits.ask': ['Asked the institution about the debit of period {cycleNo}', '查询第 {cycleNo} 期扣款结果'],
  'refunds.ask': ['Asked the institution about a refund of period {cycleNo}', '查询第 {cycleNo} 期退款结果'],
  'order.refund': ['Requested a refund of period {cycleNo}', '发起第 {cycleNo} 期退款'],
  'order.record-refund': ['Recorded a refund of period {cycleNo} outside the service', '登记第 {cycleNo} 期系统外退款'],
  'order.unmask': ['Viewed personal data', '查看个人信息'],
  'order.advance': ['Advanced the order in time', '推进订单时间'],
  'code.reveal': ['Viewed a code of period {cycleNo}', '查看第 {cycleNo} 期兑换码'],
  'code.replace': ['Replaced a code of period {cycleNo}', '更换第 {cycleNo} 期兑换码'],
  'link.create': ['Created a redemption link', '生成兑换链接'],
  'agreement.cancel': ['Canceled the agreement', '解约'],
  'user.change-mobile': [
    'Changed the mobile number: {formerMobile} → {newMobile}',
    '变更手机号：{formerMobile} → {newMobile}',
  ],
  'approval.request': ['Requested approval for a refund of period {cycleNo}', '提交第 {cycleNo} 期退款审批'],
  'approval.approve': ['Approved a refund', '批准退款'],
  'approval.decline': ['Declined a refund', '拒绝退款'],
  'approval.withdraw': ['Withdrew the refund request', '撤回退款申请'],
  'approval.fail': ['The approved refund failed', '已批准的退款执行失败'],
});

const useOutcomes = dictionary({
  ACCEPTED: ['Accepted by the channel', '渠道已接收'],
  REFUSED: ['Refused by the channel', '渠道拒绝接收'],
  TIMEOUT: ['No answer from the channel in time', '渠道应答超时'],
  UNREACHABLE: ['Channel unreachable', '无法连接渠道'],
  FORBIDDEN: ['Not sent: the address is not allowed', '未发送：回调地址不允许'],
});

/** Texts of events about a period, by the period's new status. */
const usePaymentEventTexts = dictionary({
  WAIT: ['period {cycleNo} is not due yet', '第 {cycleNo} 期待扣款'],
  PROCESSING: ['period {cycleNo} is being debited', '第 {cycleNo} 期扣款中'],
  SUCCESS: ['period {cycleNo} was paid', '第 {cycleNo} 期已支付'],
  FAIL_RETRY: ['the debit of period {cycleNo} failed and will be retried', '第 {cycleNo} 期扣款失败，将重试'],
  FAIL: ['period {cycleNo} failed for good', '第 {cycleNo} 期扣款最终失败'],
  BILLED: ['period {cycleNo} was billed', '第 {cycleNo} 期已出账'],
  CANCELED: ['period {cycleNo} was canceled', '第 {cycleNo} 期已取消'],
  REFUND_PART: ['period {cycleNo} was refunded in part', '第 {cycleNo} 期部分退款'],
  REFUND_FULL: ['period {cycleNo} was refunded in full', '第 {cycleNo} 期全额退款'],
});

/** Texts of the notice before a period, by settlement mode. */
const useNoticeTexts = dictionary({
  SVC_DEDUCT: ['period {cycleNo} will be debited on {time}', '第 {cycleNo} 期将于 {time} 扣款'],
  CHANNEL_COLLECT: ['period {cycleNo} will be billed on {time}', '第 {cycleNo} 期将于 {time} 出账'],
});

const useOrderEventTexts = dictionary({
  INITIALIZING: ['the order is starting', '订单初始化'],
  ACTIVE: ['the order is active', '订单已生效'],
  UNSUBSCRIBED: ['the order was unsubscribed', '订单已退订'],
  COMPLETED: ['the order was completed', '订单已完成'],
  TERMINATED: ['the order was terminated: its first debit failed', '订单已终止：首期扣款失败'],
});

const partOf = (data: unknown, name: string): unknown =>
  typeof data === 'object' && data !== null ? (data as Record<string, unknown>)[name] : undefined;

/** Returns a field of an entry's record. */
export function fieldOf(data: unknown, name: string): string | number | undefined {
  const value = partOf(data, name);
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}

/** Returns a function that describes an event as part of a sentence. Unknown statuses and types are shown as codes. */
function useEventWords(): (event: TimelineEntry) => string {
  const paymentText = usePaymentEventTexts() as (status: string, values: object) => string;
  const orderText = useOrderEventTexts() as (status: string) => string;
  const noticeText = useNoticeTexts();
  const typeText = useEventTypeText();
  return ({ data, cycleNo }) => {
    const body = partOf(data, 'data');
    const eventType = String(fieldOf(data, 'eventType') ?? '');
    const due = fieldOf(body, 'expectPayTime');
    if (eventType === 'payment.upcoming' && typeof due === 'string') {
      const isBilled = fieldOf(body, 'settlementMode') === 'CHANNEL_COLLECT';
      const time = timeText(momentOf(due), BEIJING);
      return noticeText(isBilled ? 'CHANNEL_COLLECT' : 'SVC_DEDUCT', { cycleNo: cycleNo ?? '', time });
    }
    const paymentStatus = fieldOf(body, 'paymentStatus');
    if (paymentStatus !== undefined) return paymentText(String(paymentStatus), { cycleNo: cycleNo ?? '' });
    const orderStatus = fieldOf(body, 'orderStatus');
    return orderStatus === undefined ? typeText(eventType) : orderText(String(orderStatus));
  };
}

/** Returns a function that describes the outcome of a push. */
export function useOutcomeText(): (push: TimelineEntry) => string {
  const t = useOutcomes() as (outcome: string) => string;
  return ({ status, title }) => (status === null ? title : t(status));
}

/**
 * Returns a function that gives an entry's title in the page's language. An unknown kind or action is shown by its
 * code.
 */
export function useEntryTitle(): (entry: FoldedEntry) => string {
  const t = useTexts();
  const titles = useTitles();
  const actionText = useActionTexts() as (action: string, values: object) => string;
  const alertTexts = useAlertTexts();
  const eventWords = useEventWords();
  const outcomeText = useOutcomeText();
  const sourceText = useSourceTexts() as (source: string) => string;
  const stepWords = useStepWords();
  return (entry) => {
    const { kind, status, title, data, when } = entry;
    const cycleNo = entry.cycleNo ?? '';
    const field = (name: string) => fieldOf(data, name) ?? '';
    if (kind === 'next') return stepWords({ ...(data as NextStep), at: entry.at });
    if (kind === 'operator') {
      // The log names the operator who approved a refund; `requestedBy` is the operator who requested it.
      const name = title === 'order.refund' ? fieldOf(partOf(data, 'detail'), 'requestedBy') : undefined;
      const detail = partOf(data, 'detail');
      const mobiles = {
        formerMobile: fieldOf(detail, 'formerMobile') ?? '****',
        newMobile: fieldOf(detail, 'newMobile') ?? '****',
      };
      return name === undefined ? actionText(title, { cycleNo, ...mobiles }) : t('approvedRefund', { cycleNo, name });
    }
    const told = kind === 'push' ? entry.event : entry;
    const what = told ? eventWords(told) : t('eventById', { eventId: field('eventId') });
    if (kind === 'push' && when === 'future') {
      const retryNo = field('retryNo');
      return retryNo ? t('pushAgain', { retryNo, what }) : t('pushNext', { what });
    }
    const ofStatus = `${kind} ${status}`;
    const values = {
      cycleNo,
      what,
      tryNo: field('tryNo'),
      name: field('name'),
      institution: field('paymentChannelCode'),
      outcome: outcomeText(entry),
      who: sourceText(title.split(' ').at(-1) ?? ''),
      alert: alertTexts.name(title),
    };
    return titles((ofStatus in TITLES ? ofStatus : kind) as keyof typeof TITLES, values);
  };
}

/**
 * For each kind of entry whose status is shown beside the title: the kind of status, which selects the status's name.
 */
export const STATUS_OF: Readonly<Partial<Record<TimelineEntry['kind'], StatusKind>>> = {
  period: 'payment',
  refund: 'refund',
  event: 'delivery',
};

const NEGATIVE = new Set(['FAIL', 'GIVE_UP', 'TERMINATED', 'REFUSED', 'TIMEOUT', 'UNREACHABLE', 'FORBIDDEN', 'OPEN']);
const POSITIVE = new Set(['SUCCESS', 'BILLED', 'ACCEPTED', 'DELIVERED', 'BIND_SUCCESS', 'COMPLETED']);

/** Returns the colour of an entry's dot. */
export function toneOf({ kind, status, when }: TimelineEntry): Tone {
  if (when === 'future') return 'progress';
  if (kind === 'operator' || kind === 'note') return 'waiting';
  if (kind === 'period') return 'neutral';
  if (kind === 'event') return status === 'GIVE_UP' ? 'negative' : 'neutral';
  if (NEGATIVE.has(status ?? '')) return 'negative';
  return POSITIVE.has(status ?? '') ? 'positive' : 'neutral';
}
