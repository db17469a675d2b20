import { dictionary } from '../../i18n/dictionary.ts';

/** Names of the API's event types. */
const useTexts = dictionary({
  '*': ['All events', '全部事件'],
  'order.status.changed': ['Order status', '订单状态'],
  'payment.status.changed': ['Payment status', '支付状态'],
  'payment.upcoming': ['Notice before a debit', '扣款前通知'],
});

export const EVENT_TYPES = ['order.status.changed', 'payment.status.changed', 'payment.upcoming'] as const;
export type CallbackType = '*' | (typeof EVENT_TYPES)[number];
export const CALLBACK_TYPES: readonly CallbackType[] = ['*', ...EVENT_TYPES];

export function useEventTypeText(): (type: string) => string {
  const t = useTexts();
  return (type) => (CALLBACK_TYPES.find((one) => one === type) === undefined ? type : t(type as CallbackType));
}
