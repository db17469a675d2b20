import { Box, Checkbox, Select, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api } from '../../../api/client.ts';
import type { OrderAction, OrderAnswer } from '../../../api/order-types.ts';
import { newRequestKey } from '../../../api/request-key.ts';
import { dictionary } from '../../../i18n/dictionary.ts';
import { ConfirmDialog } from '../../../parts/dialogs/confirm-dialog.tsx';
import { NoteField } from '../../../parts/fields/note-field.tsx';
import { notifyDone } from '../../../parts/notify.ts';
import { currencySign, getCurrency, moneyText } from '../../../parts/values/money.tsx';
import { useSession } from '../../../session/session.ts';
import { useOrderChanged } from '../dialogs.tsx';
import { PreviewBox } from '../preview-box.tsx';
import {
  describeRequest,
  findUnanswered,
  forgetUnanswered,
  hasArrived,
  isAnswer,
  joinUnanswered,
  type KnownRequest,
  keepUnanswered,
  keyFor,
  NO_OPTIONS,
  type RefundOptions,
  readPlace,
  type Unanswered,
} from './refund-request.ts';
import { amountText, parseAmount } from './typed-amount.ts';

const useTexts = dictionary({
  title: ['Refund period {cycleNo} of order {orderNo}', '订单 {orderNo} 第 {cycleNo} 期退款'],
  period: ['Period', '账期'],
  periodLeft: ['Period {cycleNo} · {amount} left', '第 {cycleNo} 期 · 可退 {amount}'],
  amount: ['Amount in {currency}', '金额（{currency}）'],
  amountHint: ['At most {amount}, the amount that is left.', '最多可退 {amount}。'],
  amountWrong: ['Enter an amount from 0.01 to {amount}.', '请输入 0.01 至 {amount} 之间的金额。'],
  nothingLeft: ['Nothing is left to refund in this period.', '该期已无可退金额。'],
  note: ['Note', '说明'],
  noteHint: ['The reason. It is stored with the refund and in the audit log.', '退款原因，将记入退款单与审计日志。'],
  keepBenefits: ['Keep the benefits', '保留权益'],
  outside: ['Already refunded outside the service: only record it', '已在系统外退款，仅登记'],
  outsideHint: [
    'For example by bank transfer. Nothing is sent to the institution, and the channel is not notified.',
    '如银行转账。不会向支付机构发起退款，也不通知渠道。',
  ],
  unsubscribe: ['Unsubscribe the order too', '同时退订'],
  willHappen: ['Effects', '执行后'],
  unanswered: [
    'A refund of {amount} was sent before and has no answer yet. If you send the same amount again, it is the same refund: the money is refunded once.',
    '此前提交的 {amount} 退款尚未收到结果。以相同金额再次提交视为同一笔退款，不会重复退款。',
  ],
  arrived: [
    'Your earlier refund of {amount} was received; only its answer was lost. Another amount would be another refund.',
    '此前提交的 {amount} 退款已受理，只是未收到结果。提交其他金额将视为另一笔退款。',
  ],
  elsewhere: [
    'You have sent a refund of {amount} in another tab. If you send the same amount here, it is the same refund: the money is refunded once. To refund this amount again, close this dialog and reopen it.',
    '您已在另一个标签页提交 {amount} 退款。在此以相同金额提交视为同一笔退款，不会重复退款。如需再退相同金额，请关闭后重新打开。',
  ],
  verb: ['Refund {amount}', '退款 {amount}'],
  verbRecord: ['Record {amount}', '登记 {amount}'],
  verbAsk: ['Request approval', '提交审批'],
  SUCCESS: ['{amount} refunded', '已退款 {amount}'],
  STARTED: ['The refund of {amount} is in progress', '{amount} 退款处理中'],
  OUTSIDE: ['{amount} recorded as refunded outside the service', '已登记系统外退款 {amount}'],
  WAITING: ['Approval requested for {amount}', '{amount} 退款已提交审批'],
});

interface RefundDialogProps {
  readonly shown: OrderAnswer;
  /** The periods that still have an amount to refund. */
  readonly choices: readonly OrderAction[];
  readonly cycleNo: number;
  onClose(): void;
}

export function RefundDialog({ shown, choices, cycleNo: first, onClose }: RefundDialogProps) {
  const t = useTexts();
  const { orderNo } = shown.order;
  const changed = useOrderChanged();
  const requests = useUnanswered(orderNo);
  const maxOf = (chosen: number) => choices.find((one) => one.cycleNo === chosen)?.maxAmountCent ?? 0;
  // Prefills the amount and the options of an unanswered request: with another amount, a retry would be a second refund.
  const unansweredOf = (chosen: number) =>
    requests.all.find((one) => one.cycleNo === chosen && one.origin !== 'elsewhere');
  const offered = (chosen: number) => amountText(unansweredOf(chosen)?.amountCent ?? maxOf(chosen));
  const [cycleNo, setCycleNo] = useState(first);
  const [text, setText] = useState(() => offered(first));
  const [note, setNote] = useState('');
  const maxCent = maxOf(cycleNo);
  const typed = parseAmount(text, currencySign());
  const amountCent = typed !== undefined && typed >= 1 && typed <= maxCent ? typed : undefined;
  const period = { orderNo, cycleNo: `${cycleNo}` };
  const [chosen, setChosen] = useState(() => unansweredOf(first)?.options ?? NO_OPTIONS);
  const preview = usePreview(period, amountCent, chosen);
  const isCurrent = !preview.isPlaceholderData && preview.data?.refundCent === amountCent;
  const choice = (name: keyof typeof chosen, description?: string) => (
    <Checkbox
      label={t(name)}
      description={description}
      checked={chosen[name]}
      onChange={(event) => setChosen({ ...chosen, [name]: event.currentTarget.checked })}
    />
  );
  const needsApproval = preview.data?.needsApproval === true;
  const words = { amount: moneyText(amountCent ?? 0) };
  const unanswered = requests.all.filter((one) => one.cycleNo === cycleNo);
  const close = () => {
    // Forgets requests whose refunds the order already has. The open dialog has shown these requests to the operator.
    for (const one of unanswered) if (hasArrived(shown.timeline, one.key)) requests.forget(one);
    onClose();
  };
  return (
    <ConfirmDialog
      isOpen
      isDangerous={!needsApproval}
      title={t('title', { cycleNo, orderNo })}
      verb={needsApproval ? t('verbAsk') : t(chosen.outside ? 'verbRecord' : 'verb', words)}
      isIncomplete={
        amountCent === undefined || note.trim() === '' || !isCurrent || (preview.data?.refusal ?? null) !== null
      }
      onClose={close}
      onConfirm={async () => {
        if (amountCent === undefined) return;
        const request = requests.begin({ cycleNo, amountCent, options: chosen });
        const body = { amountCent, note: note.trim(), ...chosen, key: request.key };
        const { status } = await api
          .post('/orders/{orderNo}/periods/{cycleNo}/refund', { ...period, ...body })
          .catch((error: unknown) => {
            if (isAnswer(error)) requests.forget(request);
            else requests.leaveOpen(request);
            // The refund may have been made in spite of the error: reloads the order and the preview.
            changed();
            void preview.refetch();
            throw error;
          });
        requests.forget(request);
        notifyDone(t(status, words));
        changed();
      }}
    >
      {choices.length > 1 ? (
        <Select
          label={t('period')}
          data={choices.map((one) => ({
            value: String(one.cycleNo),
            label: t('periodLeft', { cycleNo: one.cycleNo ?? 0, amount: moneyText(one.maxAmountCent ?? 0) }),
          }))}
          value={String(cycleNo)}
          onChange={(value) => {
            setCycleNo(Number(value));
            setText(offered(Number(value)));
            setChosen(unansweredOf(Number(value))?.options ?? chosen);
          }}
        />
      ) : null}
      <TextInput
        label={t('amount', { currency: getCurrency() })}
        description={maxCent > 0 ? t('amountHint', { amount: moneyText(maxCent) }) : null}
        error={
          amountCent !== undefined
            ? null
            : maxCent > 0
              ? t('amountWrong', { amount: amountText(maxCent) })
              : t('nothingLeft')
        }
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        inputMode="decimal"
        autoComplete="off"
        leftSection={currencySign()}
        classNames={{ input: 'figures' }}
        data-autofocus
      />
      <NoteField label={t('note')} description={t('noteHint')} value={note} onChange={setNote} />
      {!chosen.outside && (preview.data?.mayKeepBenefits || chosen.keepBenefits) ? choice('keepBenefits') : null}
      {chosen.unsubscribe || shown.actions.some(({ action, isAllowed }) => action === 'unsubscribe' && isAllowed)
        ? choice('unsubscribe')
        : null}
      {choice('outside', t('outsideHint'))}
      {amountCent === undefined ? null : (
        <PreviewBox title={t('willHappen')} preview={preview.data} error={preview.error} />
      )}
      {unanswered.map((one) => {
        const said = describeRequest(one, {
          isKept: requests.isKept(one),
          hasArrived: hasArrived(shown.timeline, one.key),
        });
        return said ? (
          <Box
            key={one.key}
            className="small"
            p="8px 11px"
            bdrs={6}
            c="var(--waiting)"
            bg="var(--waiting-soft)"
            role="status"
          >
            {t(said, { amount: moneyText(one.amountCent) })}
          </Box>
        ) : null;
      })}
    </ConfirmDialog>
  );
}

/** Returns the operator's unanswered refund requests, from this tab and others. */
function useUnanswered(orderNo: string) {
  const { name: person } = useSession();
  const [owner] = useState({ person, orderNo });
  const queries = useQueryClient();
  const [kept, setKept] = useState<readonly Unanswered[]>(() => findUnanswered(owner));
  const [all, setAll] = useState<readonly KnownRequest[]>(() => kept.map((one) => ({ ...one, origin: 'before' })));
  useEffect(() => {
    // Keeps a request even if another tab got its answer. If this tab sends the same amount, it uses the same
    // idempotency key, so the money is refunded once.
    const join = ({ key, newValue, oldValue }: StorageEvent) => {
      const elsewhere = (found: readonly Unanswered[]) =>
        found.map((one) => ({ ...one, origin: 'elsewhere' }) as const);
      const found = findUnanswered(owner);
      // Reads the event too, because a request that was answered before its event arrived is no longer stored.
      const changed = readPlace(owner, key ?? '', newValue ?? oldValue);
      setKept(found);
      setAll((known) => joinUnanswered(joinUnanswered<KnownRequest>(known, elsewhere(found)), elsewhere(changed)));
      // Only the order says whether the answered request made the refund.
      if (changed.length > 0 && newValue === null)
        void queries.invalidateQueries({ queryKey: ['/orders', owner.orderNo] });
    };
    // The browser sends `storage` events only to the tabs that did not make the change.
    window.addEventListener('storage', join);
    return () => window.removeEventListener('storage', join);
  }, [owner, queries]);
  return {
    all,
    isKept: (request: Unanswered) => kept.some(({ key }) => key === request.key),
    /** Stores a request with its idempotency key, before it is sent, and returns it. */
    begin(asked: Omit<Unanswered, 'key'>): Unanswered {
      const known = joinUnanswered<Unanswered>(all, findUnanswered(owner));
      const request = { ...asked, key: keyFor(known, asked, newRequestKey()) };
      keepUnanswered(owner, request);
      return request;
    },
    leaveOpen: (request: Unanswered) =>
      setAll((known) => [...known.filter(({ key }) => key !== request.key), { ...request, origin: 'here' }]),
    forget(request: Unanswered): void {
      forgetUnanswered(owner, request);
      setAll((known) => known.filter(({ key }) => key !== request.key));
    },
  };
}

/** Loads the service's preview of the refund, 200 ms after the last key press. */
function usePreview(
  period: { readonly orderNo: string; readonly cycleNo: string },
  amountCent: number | undefined,
  chosen: RefundOptions,
) {
  const path = '/orders/{orderNo}/periods/{cycleNo}/refund/preview';
  const [settled] = useDebouncedValue(amountCent, 200);
  const flag = (name: keyof typeof chosen) => (chosen[name] ? 'true' : undefined);
  const options = {
    keepBenefits: flag('keepBenefits'),
    outside: flag('outside'),
    unsubscribe: flag('unsubscribe'),
  } as const;
  const query = { ...period, amountCent: settled, ...options };
  return useQuery({
    queryKey: [path, query],
    queryFn: ({ signal }) => api.get(path, query, signal),
    enabled: settled !== undefined,
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
}
