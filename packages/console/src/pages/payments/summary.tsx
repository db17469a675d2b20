import { Group, Skeleton, Stack } from '@mantine/core';
import type { FilterControl } from '../../address/filters.ts';
import type { FailedSummary } from '../../api/order-types.ts';
import { useInstitutionNames } from '../../catalog/catalog.ts';
import { useDeclineKinds } from '../../catalog/decline-kinds.ts';
import { Figure } from '../../parts/lists/list-parts.tsx';
import { countText, moneyText } from '../../parts/values/money.tsx';
import { ShareBars } from '../../parts/values/share-bars.tsx';
import type { FAILED_FILTERS } from './filters.ts';
import styles from './payments.module.css';
import { useTexts } from './texts.ts';

/** The number of reasons that are shown. A chosen kind leaves only its own reasons. */
const MAX_SHOWN_REASONS = 10;

interface SummaryProps {
  readonly summary: FailedSummary | undefined;
  readonly filters: FilterControl<(typeof FAILED_FILTERS)[number]>;
}

/**
 * Shows why, at which institution and at which attempt payments fail, and the amount that retries recovered. A click on
 * a kind, a reason or an institution sets or removes its filter.
 */
export function Summary({ summary, filters: { values, set } }: SummaryProps) {
  const t = useTexts();
  const institutions = useInstitutionNames();
  const kinds = useDeclineKinds();
  if (!summary) return <Skeleton height={150} radius="md" />;
  const { total, isAtLeast, byKind, byReason, byInstitution, byTry, recoveredByTry, isRecoveredAtLeast } = summary;
  const recoveredCent = recoveredByTry.reduce((sum, { amountCent }) => sum + amountCent, 0);
  const choice = (name: 'declineKind' | 'reason' | 'paymentChannelCode', value: string) => ({
    onChoose: () => set({ [name]: values[name] === value ? undefined : value }),
    isChosen: values[name] === value,
  });
  return (
    <>
      <Group gap="8px 40px" align="stretch">
        <Stack gap={0}>
          <Figure size="1.375rem">{moneyText(total.amountCent)}</Figure>
          <span className="quiet tiny figures">
            {t(isAtLeast ? 'totalAtLeast' : 'total', { count: countText(total.payments) })} · {t('outstanding')}
          </span>
        </Stack>
        <Stack gap={0}>
          <Figure size="1.375rem">{moneyText(recoveredCent)}</Figure>
          <span className="quiet tiny">{t(isRecoveredAtLeast ? 'recoveredAtLeast' : 'recoveredSum')}</span>
        </Stack>
      </Group>
      <div className={styles.summary}>
        <ShareBars
          title={t('byKind')}
          shares={byKind.map(({ declineKind: kind, ...sums }) => ({
            ...sums,
            key: kind,
            label: kinds(kind),
            ...choice('declineKind', kind),
          }))}
        />
        <ShareBars
          title={t('byReason')}
          shares={mergeReasons(byReason).map(({ reason, ...sums }) => ({
            ...sums,
            key: String(reason),
            label: reason ?? t('noReason'),
            ...(reason === null ? {} : choice('reason', reason)),
          }))}
        />
        <Stack gap={16} miw={0}>
          <ShareBars
            title={t('byInstitution')}
            shares={byInstitution.map(({ paymentChannelCode: code, ...sums }) => ({
              ...sums,
              key: code,
              label: institutions.of(code),
              ...choice('paymentChannelCode', code),
            }))}
          />
          <ShareBars
            title={t('byTry')}
            shares={byTry.map(({ tryNo, ...sums }) => ({
              ...sums,
              key: String(tryNo),
              label: t('tried', { count: tryNo }),
            }))}
          />
          <ShareBars
            title={t('recovered')}
            tone="positive"
            shares={recoveredByTry.map(({ tryNo, ...sums }) => ({
              ...sums,
              key: String(tryNo),
              label: t('try', { tryNo }),
            }))}
          />
        </Stack>
      </div>
    </>
  );
}

type Reason = FailedSummary['byReason'][number];

/** Adds up equal words of several kinds, because the filter by reason selects all of them. Largest first. */
function mergeReasons(byReason: readonly Reason[]): readonly Pick<Reason, 'reason' | 'payments' | 'amountCent'>[] {
  const merged = new Map<string | null, Pick<Reason, 'reason' | 'payments' | 'amountCent'>>();
  for (const { reason, payments, amountCent } of byReason) {
    const { payments: count = 0, amountCent: cents = 0 } = merged.get(reason) ?? {};
    merged.set(reason, { reason, payments: count + payments, amountCent: cents + amountCent });
  }
  return [...merged.values()].toSorted((one, other) => other.payments - one.payments).slice(0, MAX_SHOWN_REASONS);
}
