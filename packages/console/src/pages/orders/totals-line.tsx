import { Box, Button, Group, Skeleton } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { CsvExport } from '../../parts/lists/csv-export.tsx';
import { countText, moneyText } from '../../parts/values/money.tsx';
import { useTexts } from './texts.ts';

type Filter = Readonly<Record<string, string | undefined>>;

export const useTotals = (filter: Filter) =>
  useQuery({
    queryKey: ['/orders/totals', filter],
    queryFn: ({ signal }) => api.get('/orders/totals', filter, signal),
    placeholderData: keepPreviousData,
  });

/** Shows the number of matching orders, their totals and the export. */
export function TotalsLine({ filter }: { readonly filter: Filter }) {
  const t = useTexts();
  const common = useCommonTexts();
  const { data, error, refetch } = useTotals(filter);
  const isUnknown = data?.isAtLeast === true && data.count === 0;
  return (
    <Group className="small figures" gap="4px 20px" mih={30} mb={10} aria-live="polite">
      {data && !isUnknown ? (
        <>
          <Box component="strong" fw={600}>
            {t(data.isAtLeast ? 'totalAtLeast' : 'totalOrders', { count: countText(data.count) })}
          </Box>
          <span>{t('totalPaid', { amount: moneyText(data.totalPaidAmountCent) })}</span>
          <span>{t('totalRefunded', { amount: moneyText(data.totalRefundAmountCent) })}</span>
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
        path="/orders.csv"
        filter={filter}
        total={data && !data.isAtLeast ? data.count : undefined}
        isEmpty={data?.count === 0 && !isUnknown}
        doneText={(count) => t('exportDone', { count })}
      />
    </Group>
  );
}
