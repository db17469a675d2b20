import { Box, Button, Group, Skeleton } from '@mantine/core';
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { type Answer, api, type QueryOf } from '../../api/client.ts';
import { isProblem } from '../../api/problem.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { useLanguage } from '../../i18n/language.ts';
import { problemText } from '../problem-text.ts';
import { countText } from '../values/money.tsx';
import { CsvExport } from './csv-export.tsx';

const useTexts = dictionary({
  failed: ['The totals could not be loaded.', '汇总加载失败。'],
});

type TotalsPath = '/orders/totals' | '/payments/totals' | '/refunds/totals';

/** Reads the number and the sums of a list's matching rows. */
export const useTotals = <Path extends TotalsPath>(path: Path, filter: QueryOf<Path>) =>
  useQuery<Answer<'GET', Path>>({
    queryKey: [path, filter],
    queryFn: ({ signal }) => api.get(path, filter, signal),
    placeholderData: keepPreviousData,
  });

interface TotalsLineProps<Totals> {
  readonly totals: UseQueryResult<Totals>;
  readonly of: 'orders' | 'payments' | 'refunds';
  readonly filter: Readonly<Record<string, string | undefined>>;
  /** Returns the number of matching rows, their sums, and the words for a part of the rows. */
  textsOf(totals: Totals, count: string): readonly [rows: string, sums: readonly string[], ofThose: string];
  /** Returns the message after an export. */
  exportedText(count: string): string;
}

/** Shows the number of matching rows, their sums and the export. */
export function TotalsLine<Totals extends { readonly count: number; readonly isAtLeast: boolean }>({
  totals: { data, error, refetch, isPlaceholderData },
  of,
  filter,
  textsOf,
  exportedText,
}: TotalsLineProps<Totals>) {
  const t = useTexts();
  const common = useCommonTexts();
  // Dims the totals of the former filter, like the rows.
  const isRefreshing = isPlaceholderData || undefined;
  const language = useLanguage();
  const [rows, sums, ofThose] = data ? textsOf(data, countText(data.count)) : [];
  return (
    <Group className="small figures" gap="4px 20px" mih={30} mb={10} aria-live="polite">
      {rows ? (
        <>
          <Box component="strong" fw={600} data-refreshing={isRefreshing}>
            {rows}
          </Box>
          {sums?.map((sum) => (
            <span key={sum} data-refreshing={isRefreshing}>
              {sum}
            </span>
          ))}
          {data?.isAtLeast ? <span className="quiet">{ofThose}</span> : null}
        </>
      ) : error ? (
        <span className="quiet">
          {t('failed')} {isProblem(error) && error.status < 500 ? problemText(error, language) : null}{' '}
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
        isEmpty={data?.count === 0}
        doneText={exportedText}
      />
    </Group>
  );
}
