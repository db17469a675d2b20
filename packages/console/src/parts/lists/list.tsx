import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import type { PagedList } from '../../api/use-pages.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { Broken, LoadingRows } from '../states.tsx';
import { DataTable, type DataTableProps } from './data-table.tsx';

interface ListProps<Row> extends Omit<DataTableProps<Row>, 'rows' | 'isRefreshing'> {
  readonly list: PagedList<Row>;
  /** Shown if there are no rows. */
  readonly empty: ReactNode;
}

/** A paged list in all its states: loading, failed, empty, and rows with a button for more. */
export function List<Row>({ list, empty, ...table }: ListProps<Row>) {
  const t = useCommonTexts();
  if (!list.rows) return list.error ? <Broken error={list.error} onRetry={list.reload} /> : <LoadingRows />;
  // The former filter's empty list says nothing about the rows of this one.
  if (list.rows.length === 0) return list.isRefreshing ? <LoadingRows /> : empty;
  return (
    <div>
      <DataTable {...table} rows={list.rows} isRefreshing={list.isRefreshing} />
      {list.error ? <Broken error={list.error} onRetry={list.reload} /> : null}
      {list.hasMore ? (
        <Group gap={0} align="stretch" justify="center" wrap="nowrap" p={16}>
          <Button variant="default" loading={list.isLoadingMore} onClick={list.loadMore}>
            {t('more')}
          </Button>
        </Group>
      ) : null}
    </div>
  );
}
