import { Group, Skeleton, Stack } from '@mantine/core';
import type { FilterControl } from '../../address/filters.ts';
import type { FailedSummary } from '../../api/order-types.ts';
import { useInstitutionNames } from '../../catalog/catalog.ts';
import { countText, moneyText } from '../../parts/money.tsx';
import { ShareBars } from '../../parts/share-bars.tsx';
import type { PAYMENTS_FILTERS } from './filters.ts';
import styles from './payments.module.css';
import { useTexts } from './texts.ts';

interface SummaryProps {
  readonly summary: FailedSummary | undefined;
  readonly filters: FilterControl<(typeof PAYMENTS_FILTERS)[number]>;
}

/** Why payments fail, where, at which try, and what trying again has brought back. A press on a group filters by it. */
export function Summary({ summary, filters }: SummaryProps) {
  const t = useTexts();
  const institutions = useInstitutionNames();
  const { values, set } = filters;
  if (!summary) return <Skeleton height={150} radius="md" />;
  const { total, isAtLeast, byReason, byInstitution, byTry, recoveredByTry, isRecoveredAtLeast } = summary;
  const recoveredCent = recoveredByTry.reduce((sum, { amountCent }) => sum + amountCent, 0);
  const choose = (name: 'reason' | 'paymentChannelCode', value: string) => () =>
    set({ [name]: values[name] === value ? undefined : value });
  return (
    <>
      <Group className="figures" gap="8px 40px" align="stretch">
        <span>
          <span className={styles.sum}>{moneyText(total.amountCent)}</span>
          <span className={styles.sumName}>
            {isAtLeast
              ? t('totalAtLeast', { count: countText(total.payments) })
              : t('total', { count: countText(total.payments) })}{' '}
            · {t('outstanding')}
          </span>
        </span>
        <span>
          <span className={styles.sum}>{moneyText(recoveredCent)}</span>
          <span className={styles.sumName}>{t(isRecoveredAtLeast ? 'recoveredAtLeast' : 'recoveredSum')}</span>
        </span>
      </Group>
      <div className={styles.summary}>
        <ShareBars
          title={t('byReason')}
          empty={t('none')}
          shares={byReason.map(({ reason, payments, amountCent }) => ({
            key: reason ?? '',
            label: reason ?? t('noReason'),
            count: payments,
            amountCent,
            onChoose: reason === null ? undefined : choose('reason', reason),
            isChosen: reason !== null && values.reason === reason,
          }))}
        />
        <Stack gap={16} miw={0}>
          <ShareBars
            title={t('byInstitution')}
            empty={t('none')}
            shares={byInstitution.map(({ paymentChannelCode: code, payments, amountCent }) => ({
              key: code,
              label: institutions.of(code),
              count: payments,
              amountCent,
              onChoose: choose('paymentChannelCode', code),
              isChosen: values.paymentChannelCode === code,
            }))}
          />
          <ShareBars
            title={t('byTry')}
            empty={t('none')}
            shares={byTry.map(({ tryNo, payments, amountCent }) => ({
              key: String(tryNo),
              label: t('tried', { count: tryNo }),
              count: payments,
              amountCent,
            }))}
          />
        </Stack>
        <ShareBars
          title={t('recovered')}
          empty={t('none')}
          tone="positive"
          shares={recoveredByTry.map(({ tryNo, payments, amountCent }) => ({
            key: String(tryNo),
            label: t('try', { tryNo }),
            count: payments,
            amountCent,
          }))}
        />
      </div>
    </>
  );
}
