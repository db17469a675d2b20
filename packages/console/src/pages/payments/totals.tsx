import { Box, Button, Group, Skeleton } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { CsvExport } from '../../parts/lists/csv-export.tsx';
import { countText, moneyText } from '../../parts/values/money.tsx';
import { useTexts } from './texts.ts';

interface ListTotalsProps {
  readonly of: 'payments' | 'refunds';
  readonly filter: Readonly<Record<string, string | undefined>>;
}

/** Shows the number of matching rows, their sum and the export. */
export function ListTotals({ of, filter }: ListTotalsProps) {
  const t = useTexts();
  const common = useCommonTexts();
  const path = `/${of}/totals` as const;
  const { data, error, refetch } = useQuery({
    queryKey: [path, filter],
    queryFn: ({ signal }) => api.get(path, filter, signal),
    placeholderData: keepPreviousData,
  });
  // The time limit of the count has passed before the first match.
  const isUnknown = data?.isAtLeast === true && data.count === 0;
  const [total, atLeast] =
    of === 'payments'
      ? (['debitTotal', 'debitTotalAtLeast'] as const)
      : (['refundTotal', 'refundTotalAtLeast'] as const);
  return (
    <Group className="small figures" gap="4px 20px" mih={30} mb={10} aria-live="polite">
      {data && !isUnknown ? (
        <>
          <Box component="strong" fw={600}>
            {t(data.isAtLeast ? atLeast : total, { count: countText(data.count) })}
          </Box>
          <span>{t('sum', { amount: moneyText(data.amountCent) })}</span>
          {data.isAtLeast ? <span className="quiet">{t('ofThose', { count: countText(data.count) })}</span> : null}
        </>
      ) : error || isUnknown ? (
        <span className="quiet">
          {t('totalsFailed')}{' '}
          <Button variant="subtle" size="compact-xs" onClick={() => void refetch()}>
            {common('retry')}
          </Button>
        </span>
      ) : (
        <Skeleton height={12} width={260} />
      )}
      <CsvExport
        path={`/${of}.csv`}
        filter={filter}
        total={data && !data.isAtLeast ? data.count : undefined}
        isEmpty={data?.count === 0 && !isUnknown}
        doneText={(count) => t(of === 'payments' ? 'debitsExported' : 'refundsExported', { count })}
      />
    </Group>
  );
}
