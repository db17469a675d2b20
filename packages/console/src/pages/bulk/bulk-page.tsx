import { Box } from '@mantine/core';
import type { BulkRun } from '../../api/order-types.ts';
import { usePages } from '../../api/use-pages.ts';
import { columnsOf } from '../../parts/lists/columns.tsx';
import { List } from '../../parts/lists/list.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { NewRunButton } from './new-run.tsx';
import { RunProgress } from './run-progress.tsx';
import { useTexts } from './texts.ts';
import { useKindTexts } from './words.ts';

const column = columnsOf<BulkRun>();

export default function BulkPage() {
  const t = useTexts();
  const kindText = useKindTexts();
  const list = usePages('/bulk', {}, ({ runs }) => runs, { refetchInterval: 5000 });
  const columns = [
    column.of(t('what'), ({ runId, kind }) => (
      <>
        <span className="figures quiet">{runId}</span> {kindText(kind)}
      </>
    )),
    column.status(t('status'), 'bulk', 'status'),
    column.words(t('reason'), ({ reason }) => reason),
    column.count(t('count'), 'items'),
    column.money(t('sum'), 'amountCent'),
    column.of(
      t('progress'),
      (run) => (
        <Box w={96}>
          <RunProgress run={run} />
        </Box>
      ),
      { inCard: 'none' },
    ),
    column.text(t('by'), 'requestedBy'),
    column.time(t('at'), 'requestedAt'),
  ];
  return (
    <Page title={t('title')} actions={<NewRunButton />}>
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
