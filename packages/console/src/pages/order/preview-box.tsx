import { Skeleton, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Preview } from '../../api/order-types.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { useLanguage } from '../../i18n/language.ts';
import { refusalText } from '../../i18n/refusals.ts';
import { AlertIcon, ApprovalIcon, BenefitIcon, EventIcon, OrderIcon, WalletIcon } from '../../icons/icons.tsx';
import { countText, moneyText } from '../../parts/money.tsx';
import { FormProblem } from '../../parts/states.tsx';
import styles from './preview-box.module.css';

const useTexts = dictionary({
  refund: ['{amount} goes back to the user', '向用户退回 {amount}'],
  notCollected: ['{amount} is not collected any more', '不再收取 {amount}'],
  noMoney: ['No money moves', '不涉及资金变动'],
  voided: ['{count} period is voided|{count} periods are voided', '作废 {count} 期'],
  revoked: ['Taken back: {names}', '收回权益：{names}'],
  revokedOf: ['{name} (period {cycleNo})', '{name}（第 {cycleNo} 期）'],
  noRevoked: ['No benefit is taken back', '不收回权益'],
  events: ['The channel is told: {events}', '通知渠道：{events}'],
  event: ['{count} × {type}', '{count} × {type}'],
  noEvents: ['The channel is not told anything', '不通知渠道'],
  approval: [
    'It is above the limit: a second person of finance has to approve it before it is sent',
    '超过限额：须由另一位财务人员批准后才会执行',
  ],
  waiting: [
    '{amount} that {name} asked for waits as well, and would go out besides',
    '{name} 申请的 {amount} 也在等待，将另行执行',
  ],
  loading: ['Finding out what would happen', '正在预览'],
});

interface PreviewBoxProps {
  readonly title: string;
  readonly preview: Preview | undefined;
  readonly error: unknown;
  /** Somebody has asked for it already: that a second person is needed goes without saying. */
  readonly isAlreadyAsked?: boolean;
}

/** What would happen, line by line, in the service's own reckoning. */
export function PreviewBox({ title, preview, error, isAlreadyAsked }: PreviewBoxProps) {
  const t = useTexts();
  if (error) return <FormProblem error={error} />;
  return (
    <section className={styles.box} aria-live="polite" aria-busy={!preview}>
      <h3 className={styles.title}>{title}</h3>
      {preview ? (
        <Lines preview={preview} isAlreadyAsked={isAlreadyAsked === true} />
      ) : (
        <Stack gap={7} role="status" aria-label={t('loading')}>
          <Skeleton height={12} width="70%" />
          <Skeleton height={12} width="45%" />
          <Skeleton height={12} width="60%" />
        </Stack>
      )}
    </section>
  );
}

function Lines({ preview, isAlreadyAsked }: { readonly preview: Preview; readonly isAlreadyAsked: boolean }) {
  const t = useTexts();
  const language = useLanguage();
  const { refundCent, notCollectedCent, periodsVoided, benefitsRevoked, events, needsApproval, waiting, refusal } =
    preview;
  if (refusal !== null)
    return (
      <p className={styles.line} data-tone="negative" role="alert">
        <AlertIcon size={16} />
        <span>{refusalText(refusal, language)}</span>
      </p>
    );
  const names = benefitsRevoked.map(({ name, cycleNo }) => t('revokedOf', { name, cycleNo }));
  const sent = events.map(({ eventType, count }) => t('event', { count: countText(count), type: eventType }));
  return (
    <Stack component="ul" gap={7}>
      {refundCent > 0 ? (
        <Line icon={<WalletIcon size={16} />} isStrong>
          {t('refund', { amount: moneyText(refundCent) })}
        </Line>
      ) : null}
      {notCollectedCent > 0 ? (
        <Line icon={<WalletIcon size={16} />} isStrong>
          {t('notCollected', { amount: moneyText(notCollectedCent) })}
        </Line>
      ) : null}
      {refundCent === 0 && notCollectedCent === 0 ? <Line icon={<WalletIcon size={16} />}>{t('noMoney')}</Line> : null}
      {periodsVoided > 0 ? (
        <Line icon={<OrderIcon size={16} />}>{t('voided', { count: countText(periodsVoided) })}</Line>
      ) : null}
      <Line icon={<BenefitIcon size={16} />}>
        {names.length > 0 ? t('revoked', { names: names.join(', ') }) : t('noRevoked')}
      </Line>
      <Line icon={<EventIcon size={16} />}>
        {sent.length > 0 ? t('events', { events: sent.join(', ') }) : t('noEvents')}
      </Line>
      {waiting.map(({ approvalId, runId, amountCent, requestedBy }) => (
        <Line key={`${approvalId} ${runId}`} icon={<AlertIcon size={16} />} tone="waiting">
          {t('waiting', { amount: moneyText(amountCent), name: requestedBy })}
        </Line>
      ))}
      {needsApproval && !isAlreadyAsked ? (
        <Line icon={<ApprovalIcon size={16} />} tone="waiting">
          {t('approval')}
        </Line>
      ) : null}
    </Stack>
  );
}

interface LineProps {
  readonly icon: ReactNode;
  readonly isStrong?: boolean;
  readonly tone?: 'waiting';
  readonly children: ReactNode;
}

function Line({ icon, isStrong, tone, children }: LineProps) {
  return (
    <li className={styles.line} data-tone={tone} data-strong={isStrong || undefined}>
      {icon}
      <span>{children}</span>
    </li>
  );
}
