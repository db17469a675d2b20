import { Select, Textarea, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, part } from '../../api/client.ts';
import type { Order, OrderAction, Preview, RefundAnswer, RefundRequest } from '../../api/order-types.ts';
import { isProblem } from '../../api/problem.ts';
import { newRequestKey } from '../../api/request-key.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { moneyText } from '../../parts/money.tsx';
import { notifyDone } from '../../parts/notify.ts';
import styles from './dialogs.module.css';
import { useOrderChanged } from './dialogs.tsx';
import { PreviewBox } from './preview-box.tsx';
import { findUnanswered, forgetUnanswered, keepUnanswered, keyFor } from './refund-request.ts';
import { parseYuan, yuanText } from './yuan.ts';

const useTexts = dictionary({
  title: ['Refund', '退款'],
  period: ['Period', '账期'],
  periodLeft: ['Period {cycleNo} · {amount} left', '第 {cycleNo} 期 · 可退 {amount}'],
  amount: ['Amount in yuan', '金额（元）'],
  amountHint: ['At most {amount}, which is all that is left.', '最多 {amount}（全部剩余金额）。'],
  amountWrong: ['Give an amount between 0.01 and {amount}.', '请输入 0.01 至 {amount} 之间的金额。'],
  note: ['Note', '说明'],
  noteHint: ['Why. It stays with the refund and in the audit log.', '退款原因，随退款单与审计日志保存。'],
  willHappen: ['What will happen', '将会发生'],
  key: ['Key {key}: pressed twice, it is refunded once.', '幂等键 {key}：重复提交只退款一次。'],
  sameKey: [
    'A refund of {amount} was sent before and got no answer. Sent again with this amount it is the same refund: the money goes back once.',
    '此前提交的 {amount} 退款未收到答复。以相同金额再次提交视为同一笔退款，只退一次。',
  ],
  verb: ['Refund {amount}', '退款 {amount}'],
  verbAsk: ['Ask a second person', '提交审批'],
  done: ['{amount} is refunded', '已退款 {amount}'],
  started: ['The refund of {amount} is under way', '{amount} 退款处理中'],
  waiting: ['A second person has been asked for {amount}', '{amount} 退款已提交审批'],
});

interface RefundDialogProps {
  readonly order: Order;
  /** Those periods of which something is left. */
  readonly choices: readonly OrderAction[];
  readonly cycleNo: number;
  onClose(): void;
}

export function RefundDialog({ order, choices, cycleNo: first, onClose }: RefundDialogProps) {
  const t = useTexts();
  const changed = useOrderChanged(order.orderNo);
  const [cycleNo, setCycleNo] = useState(first);
  const maxCent = choices.find((one) => one.cycleNo === cycleNo)?.maxAmountCent ?? 0;
  const unanswered = findUnanswered(order.orderNo, cycleNo);
  const [text, setText] = useState(() => yuanText(Math.min(unanswered?.amountCent ?? maxCent, maxCent)));
  const [note, setNote] = useState('');
  const [fresh] = useState(newRequestKey);
  const typed = parseYuan(text);
  const amountCent = typed !== undefined && typed >= 1 && typed <= maxCent ? typed : undefined;
  const path = `/orders/${part(order.orderNo)}/periods/${cycleNo}/refund`;
  const preview = usePreview(path, amountCent);
  const isCurrent = preview.data !== undefined && preview.data.refundCent === amountCent;
  const key = keyFor(order.orderNo, cycleNo, amountCent ?? 0, fresh);
  const words = { amount: moneyText(amountCent ?? 0) };
  const choosePeriod = (chosen: number) => {
    setCycleNo(chosen);
    setText(yuanText(choices.find((one) => one.cycleNo === chosen)?.maxAmountCent ?? 0));
  };
  return (
    <ConfirmDialog
      isOpen
      isDangerous
      title={t('title')}
      verb={preview.data?.needsApproval ? t('verbAsk') : t('verb', words)}
      isIncomplete={
        amountCent === undefined || note.trim() === '' || !isCurrent || (preview.data?.refusal ?? null) !== null
      }
      onClose={onClose}
      onConfirm={async () => {
        if (amountCent === undefined) return;
        const request: RefundRequest = { amountCent, note: note.trim(), key };
        keepUnanswered(order.orderNo, cycleNo, { key, amountCent });
        const { status } = await api.post<RefundAnswer>(path, request).catch((error: unknown) => {
          // A refusal is an answer. A fault, or none at all, leaves open what became of it.
          if (isProblem(error) && error.status < 500) forgetUnanswered(order.orderNo, cycleNo);
          throw error;
        });
        forgetUnanswered(order.orderNo, cycleNo);
        notifyDone(t(status === 'WAITING' ? 'waiting' : status === 'STARTED' ? 'started' : 'done', words));
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
          onChange={(value) => choosePeriod(Number(value))}
        />
      ) : null}
      <TextInput
        label={t('amount')}
        description={t('amountHint', { amount: moneyText(maxCent) })}
        error={amountCent === undefined ? t('amountWrong', { amount: yuanText(maxCent) }) : null}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        inputMode="decimal"
        autoComplete="off"
        leftSection="¥"
        classNames={{ input: 'figures' }}
        data-autofocus
      />
      <Textarea
        label={t('note')}
        description={t('noteHint')}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
        maxLength={200}
        autosize
        minRows={2}
      />
      {amountCent === undefined ? null : (
        <PreviewBox title={t('willHappen')} preview={preview.data} error={preview.error} />
      )}
      {unanswered ? (
        <p className={styles.notice} role="status">
          {t('sameKey', { amount: moneyText(unanswered.amountCent) })}
        </p>
      ) : null}
      <p className={styles.key}>{t('key', { key: key.slice(-8) })}</p>
    </ConfirmDialog>
  );
}

/** By the service's own rules, a moment after the typing has stopped. */
function usePreview(path: string, amountCent: number | undefined) {
  const [settled] = useDebouncedValue(amountCent, 200);
  return useQuery({
    queryKey: [`${path}/preview`, settled],
    queryFn: ({ signal }) => api.get<Preview>(`${path}/preview`, { amountCent: settled }, signal),
    enabled: settled !== undefined,
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
}
