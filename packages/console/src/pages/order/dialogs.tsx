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
  willHappen: ['Effects', '执行后'],
  unsubscribeTitle: ['Unsubscribe order {orderNo}?', '退订订单 {orderNo}？'],
  unsubscribe: ['Unsubscribe', '退订'],
  unsubscribed: ['Order unsubscribed', '订单已退订'],
  retryTitle: ['Retry the debit of period {cycleNo} now?', '立即对第 {cycleNo} 期重新扣款？'],
  retryHint: [
    '{amount} becomes due now and is debited as soon as the institution accepts debits. It counts as the next retry; if it fails, the later retries follow as planned.',
    '{amount} 立即到期，并在支付机构可扣款时段内扣款。本次计入重试次数；如再次失败，后续重试照常进行。',
  ],
  retryCard: [
    'Debits the card ending in {tail} through {institution}.',
    '扣款银行卡尾号 {tail}，支付机构 {institution}。',
  ],
  retry: ['Debit now', '立即扣款'],
  retried: ['Period {cycleNo} is due now and will be debited next', '第 {cycleNo} 期即将扣款'],
  cancelTitle: ['Cancel agreement?', '确认解约？'],
  cancelHint: [
    'The institution is notified that the agreement has ended. All active orders on it are unsubscribed: this order and other orders of the same user.',
    '将通知支付机构解约。该协议下所有生效中的订单（本订单及该用户的其他订单）都会退订。',
  ],
  cancelOfThis: ['This order', '本订单'],
  cancel: ['Cancel agreement', '解约'],
  canceled: [
    'Agreement canceled, {count} order unsubscribed|Agreement canceled, {count} orders unsubscribed',
    '已解约，退订 {count} 个订单',
  ],
  unmaskTitle: ['Show personal data?', '查看个人信息？'],
  unmaskHint: [
    'You will see the mobile number and the user ID unmasked. This and your reason are recorded in the audit log and on the timeline.',
    '将显示完整手机号与用户 ID。查看记录与原因会写入审计日志和时间线。',
  ],
  unmask: ['Show', '查看'],
});

interface DialogProps {
  readonly order: Order;
  onClose(): void;
}

/** Returns a function that reloads the order, the lists and the totals after an action. */
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
