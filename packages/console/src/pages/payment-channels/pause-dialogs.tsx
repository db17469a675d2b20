import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { PaymentChannel } from '../../api/types.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { ConfirmDialog } from '../../parts/dialogs/confirm-dialog.tsx';
import { ReasonDialog } from '../../parts/dialogs/reason-dialog.tsx';
import { FormProblem } from '../../parts/states.tsx';
import { countText } from '../../parts/values/money.tsx';

const useTexts = dictionary({
  pauseTitle: ['Pause renewals through {name}?', '暂停 {name} 的续费扣款？'],
  pause: ['Pause renewals', '暂停续费扣款'],
  resumeTitle: ['Resume renewals through {name}?', '恢复 {name} 的续费扣款？'],
  resume: ['Resume renewals', '恢复续费扣款'],
  effect: ['Effect', '影响'],
  due: [
    '{count} renewal is due in the next 24 hours and will wait|{count} renewals are due in the next 24 hours and will wait',
    '未来 24 小时内到期的 {count} 笔续费扣款将等待',
  ],
  dueAtLeast: [
    'At least {count} renewals are due in the next 24 hours and will wait',
    '未来 24 小时内到期的续费扣款至少 {count} 笔，将等待',
  ],
  inFlight: [
    '{count} debit without a result is still queried|{count} debits without a result are still queried',
    '{count} 笔结果未知的扣款继续查询',
  ],
  first: [
    'First debits of new orders continue: {count} in the last 24 hours',
    '新订单的首期扣款不受影响（近 24 小时 {count} 笔）',
  ],
  late: [
    'A retry that is still held when the next period is due is given up, as with debit hours',
    '下一期到期时仍未执行的重试将放弃',
  ],
  resumeHint: [
    'Held renewals are debited at once, at the payment channel’s pace. Periods that fell due meanwhile follow one after another.',
    '等待中的续费扣款将按通道限速立即执行；期间到期的账期依次补扣。',
  ],
});

interface PauseDialogProps {
  readonly channel: PaymentChannel;
  onChanged(): void;
  onClose(): void;
}

/** Asks before a pause, with the renewals that it holds. */
export function PauseDialog({ channel: { code, displayName: name }, onChanged, onClose }: PauseDialogProps) {
  const t = useTexts();
  const preview = useQuery({
    queryKey: ['/payment-channels/pause', code],
    queryFn: ({ signal }) => api.get('/payment-channels/{code}/pause', { code }, signal),
    staleTime: 0,
  });
  const shown = preview.data;
  return (
    <ReasonDialog
      isDangerous
      title={t('pauseTitle', { name })}
      verb={t('pause')}
      isIncomplete={!shown}
      onConfirm={async (reason) => {
        await api.post('/payment-channels/{code}/pause', { code, reason });
        onChanged();
      }}
      onClose={onClose}
    >
      <FormProblem error={preview.error} />
      {shown ? (
        <Stack component="ul" className="small" gap={6} aria-label={t('effect')}>
          <li>
            <strong>{t(shown.isAtLeast ? 'dueAtLeast' : 'due', { count: countText(shown.renewalsDue) })}</strong>
          </li>
          <li>{t('inFlight', { count: countText(shown.inFlight) })}</li>
          <li>{t('first', { count: countText(shown.firstDebits) })}</li>
          <li>{t('late')}</li>
        </Stack>
      ) : null}
    </ReasonDialog>
  );
}

export function ResumeDialog({ channel: { code, displayName: name }, onChanged, onClose }: PauseDialogProps) {
  const t = useTexts();
  return (
    <ConfirmDialog
      isOpen
      title={t('resumeTitle', { name })}
      verb={t('resume')}
      onConfirm={async () => {
        await api.post('/payment-channels/{code}/resume', { code });
        onChanged();
      }}
      onClose={onClose}
    >
      <p>{t('resumeHint')}</p>
    </ConfirmDialog>
  );
}
