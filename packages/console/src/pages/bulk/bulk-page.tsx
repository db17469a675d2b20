import type { BulkRun } from '../../api/order-types.ts';
import { usePages } from '../../api/use-pages.ts';
import type { Column } from '../../parts/data-table.tsx';
import { List } from '../../parts/list.tsx';
import { Count, Money } from '../../parts/money.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import styles from './bulk.module.css';
import { RunProgress } from './run-progress.tsx';
import { useTexts } from './texts.ts';
import { useKindTexts } from './words.ts';

export default function BulkPage() {
  const t = useTexts();
  const kindText = useKindTexts();
  const list = usePages('/bulk', {}, ({ runs }) => runs, { refetchInterval: 5000 });
  const columns: readonly Column<BulkRun>[] = [
    {
      id: 'what',
      header: t('what'),
      cell: ({ runId, kind }) => (
        <>
          <span className="figures quiet">{runId}</span> {kindText(kind)}
        </>
      ),
    },
    { id: 'status', header: t('status'), cell: ({ status }) => <Status of="bulk" value={status} />, inCard: 'aside' },
    {
      id: 'reason',
      header: t('reason'),
      grows: true,
      inCard: 'text',
      cell: ({ reason }) => <span className="quiet">{reason}</span>,
    },
    { id: 'count', header: t('count'), align: 'end', cell: ({ items }) => <Count value={items} /> },
    { id: 'sum', header: t('sum'), align: 'end', cell: ({ amountCent }) => <Money cents={amountCent} /> },
    {
      id: 'progress',
      header: t('progress'),
      cell: (run) => (
        <span className={styles.small}>
          <RunProgress run={run} />
        </span>
      ),
      inCard: 'none',
    },
    { id: 'by', header: t('by'), cell: ({ requestedBy }) => requestedBy },
    { id: 'at', header: t('at'), align: 'end', cell: ({ requestedAt }) => <Time value={requestedAt} /> },
  ];
  return (
    <Page title={t('title')}>
      <List
        list={list}
        caption={t('caption')}
        columns={columns}
        rowKey={({ runId }) => runId}
        rowLink={({ runId }) => ({ to: '/bulk/$runId', params: { runId } })}
        empty={<Empty title={t('empty')} hint={t('emptyHint')} />}
      />
    </Page>
  );
}
