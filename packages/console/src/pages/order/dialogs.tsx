import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { Order, Unmasked } from '../../api/order-types.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { ConfirmDialog } from '../../parts/dialogs/confirm-dialog.tsx';
import { ReasonDialog } from '../../parts/dialogs/reason-dialog.tsx';
import { notifyDone } from '../../parts/notify.ts';
import { moneyText } from '../../parts/values/money.tsx';
import { PreviewBox } from './preview-box.tsx';

const useTexts = dictionary({
  willHappen: ['What will happen', '将会发生'],
  unsubscribeTitle: ['Unsubscribe order {orderNo}?', '退订订单 {orderNo}？'],
  unsubscribe: ['Unsubscribe', '退订'],
  unsubscribed: ['The order is unsubscribed', '订单已退订'],
  retryTitle: ['Debit period {cycleNo} again now?', '立即重新扣款第 {cycleNo} 期？'],
  retryHint: [
    '{amount} is due now rather than at the next retry, and is debited as soon as the institution takes debits. It counts as that retry: when it fails too, the ones after it follow as planned.',
    '{amount} 立即到期，在机构可扣款时段内随即扣款，代替下一次自动重试并计入重试次数；若再次失败，后续重试照常进行。',
  ],
  retryCard: ['From the card ending in {tail}, by {institution}.', '扣款卡尾号 {tail}，机构 {institution}。'],
  retry: ['Debit now', '立即扣款'],
  retried: ['Period {cycleNo} is due now: its debit comes next', '第 {cycleNo} 期已设为立即到期，即将扣款'],
  cancelTitle: ['Cancel the agreement?', '解除签约？'],
  cancelHint: [
    'The institution is told that it may not be debited any more. Every active order on it is unsubscribed, this one and others of the same user.',
    '将通知机构不得再扣款。该签约下所有生效订单（本单及同一用户的其他订单）均会退订。',
  ],
  cancelOfThis: ['Of this order', '本订单'],
  cancel: ['Cancel the agreement', '解约'],
  canceled: [
    'The agreement is canceled, {count} order unsubscribed|The agreement is canceled, {count} orders unsubscribed',
    '已解约，退订 {count} 个订单',
  ],
  unmaskTitle: ['Show personal data?', '查看个人信息？'],
  unmaskHint: [
    'You will see the mobile and the user’s id in clear. That you looked, and why, stays in the audit log and on the timeline.',
    '将显示完整手机号与用户标识。查看行为与原因会写入审计日志与时间线。',
  ],
  unmask: ['Show', '查看'],
});

interface DialogProps {
  readonly order: Order;
  onClose(): void;
}

/** What was done shows in the order itself, in lists and in totals. */
export function useOrderChanged(): () => void {
  const queries = useQueryClient();
  return () => {
    for (const path of ['/orders', '/orders/totals', '/payments/failed', '/approvals', '/users'])
      void queries.invalidateQueries({ queryKey: [path] });
  };
}

const usePreviewOfEnd = (orderNo: string) => {
  return useQuery({
    queryKey: ['/orders/{orderNo}/unsubscribe/preview', orderNo],
    queryFn: ({ signal }) => api.get('/orders/{orderNo}/unsubscribe/preview', { orderNo }, signal),
    staleTime: 0,
  });
};

export function UnsubscribeDialog({ order: { orderNo }, onClose }: DialogProps) {
  const t = useTexts();
  const changed = useOrderChanged();
  const preview = usePreviewOfEnd(orderNo);
  return (
    <ReasonDialog
      isDangerous
      title={t('unsubscribeTitle', { orderNo })}
      verb={t('unsubscribe')}
      isIncomplete={preview.data === undefined || preview.data.refusal !== null}
      onClose={onClose}
      onConfirm={async (reason) => {
        await api.post('/orders/{orderNo}/unsubscribe', { orderNo, reason });
        notifyDone(t('unsubscribed'));
        changed();
      }}
    >
      <PreviewBox title={t('willHappen')} preview={preview.data} error={preview.error} />
    </ReasonDialog>
  );
}

export function RetryDialog({ order, cycleNo, onClose }: DialogProps & { readonly cycleNo: number }) {
  const t = useTexts();
  const changed = useOrderChanged();
  const { agreement } = order;
  const period = order.payments.find((one) => one.cycleNo === cycleNo);
  return (
    <ConfirmDialog
      isOpen
      title={t('retryTitle', { cycleNo })}
      verb={t('retry')}
      onClose={onClose}
      onConfirm={async () => {
        await api.post('/orders/{orderNo}/periods/{cycleNo}/retry', { orderNo: order.orderNo, cycleNo: `${cycleNo}` });
        notifyDone(t('retried', { cycleNo }));
        changed();
      }}
    >
      <p>{t('retryHint', { amount: moneyText(period?.amountCent ?? order.amountCent) })}</p>
      {agreement ? (
        <p className="quiet">
          {t('retryCard', { tail: agreement.bankCardTailNo, institution: agreement.paymentChannelCode })}
        </p>
      ) : null}
    </ConfirmDialog>
  );
}

export function CancelAgreementDialog({ order, onClose }: DialogProps) {
  const t = useTexts();
  const changed = useOrderChanged();
  const preview = usePreviewOfEnd(order.orderNo);
  const agreementNo = order.agreement?.agreementNo ?? '';
  return (
    <ReasonDialog
      isDangerous
      title={t('cancelTitle')}
      verb={t('cancel')}
      onClose={onClose}
      onConfirm={async (reason) => {
        const { unsubscribed } = await api.post('/agreements/{agreementNo}/cancel', { agreementNo, reason });
        notifyDone(t('canceled', { count: unsubscribed.length }));
        changed();
      }}
    >
      <p>{t('cancelHint')}</p>
      {order.orderStatus === 'ACTIVE' ? (
        <PreviewBox title={t('cancelOfThis')} preview={preview.data} error={preview.error} />
      ) : null}
    </ReasonDialog>
  );
}

interface UnmaskDialogProps {
  readonly orderNo: string;
  onShown(unmasked: Unmasked): void;
  onClose(): void;
}

export function UnmaskDialog({ orderNo, onShown, onClose }: UnmaskDialogProps) {
  const t = useTexts();
  const changed = useOrderChanged();
  return (
    <ReasonDialog
      title={t('unmaskTitle')}
      verb={t('unmask')}
      onClose={onClose}
      onConfirm={async (reason) => {
        onShown(await api.post('/orders/{orderNo}/unmask', { orderNo, reason }));
        changed();
      }}
    >
      <p>{t('unmaskHint')}</p>
    </ReasonDialog>
  );
}
