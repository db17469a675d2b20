import { Group } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useFilters } from '../../address/filters.ts';
import { api } from '../../api/client.ts';
import type { Approval } from '../../api/order-types.ts';
import { usePages } from '../../api/use-pages.ts';
import type { Column } from '../../parts/data-table.tsx';
import { SidePanel } from '../../parts/dialog.tsx';
import { List } from '../../parts/list.tsx';
import { Money, moneyText } from '../../parts/money.tsx';
import { Page } from '../../parts/page.tsx';
import { Broken, Empty, Loading } from '../../parts/states.tsx';
import { Status, useStatusChoices } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { Toggles } from '../../parts/toggles.tsx';
import { useMayDo, useSession } from '../../session/session.ts';
import { ApprovalView, OwnStep, useApprovalTitle } from './approval-view.tsx';
import styles from './approvals.module.css';
import { APPROVALS_FILTERS } from './filters.ts';
import { useTexts } from './texts.ts';

export default function ApprovalsPage() {
  const t = useTexts();
  const titleOf = useApprovalTitle();
  const filters = useFilters(APPROVALS_FILTERS);
  const status = filters.values.status ?? 'WAITING';
  const list = usePages(APPROVALS, status === 'ALL' ? {} : { status }, ({ approvals }) => approvals, {
    refetchInterval: 15_000,
  });
  // By itself, since what was decided leaves the list of what waits, and stays open until it is closed.
  const { open: openedId } = filters.values;
  const opened = useQuery({
    queryKey: [APPROVALS, openedId],
    queryFn: ({ signal }) => api.get('/approvals/{approvalId}', { approvalId: openedId ?? '' }, signal),
    enabled: openedId !== undefined,
    placeholderData: () => list.rows?.find(({ approvalId }) => approvalId === openedId),
  });
  const takeIn = useTakeIn();
  const columns: readonly Column<Approval>[] = [
    {
      id: 'what',
      header: t('what'),
      cell: (approval) => (
        <>
          {titleOf(approval)}
          {approval.orderNo ? <span className="figures quiet"> · {approval.orderNo}</span> : null}
        </>
      ),
    },
    {
      id: 'amount',
      header: t('amount'),
      align: 'end',
      cell: ({ amountCent }) => <Money cents={amountCent} />,
      inCard: 'aside',
    },
    {
      id: 'note',
      header: t('note'),
      grows: true,
      inCard: 'text',
      cell: ({ note }) => <span className="quiet">{note}</span>,
    },
    { id: 'by', header: t('by'), cell: ({ requestedBy }) => requestedBy },
    { id: 'status', header: t('status'), cell: ({ status: now }) => <Status of="approval" value={now} /> },
    { id: 'at', header: t('at'), align: 'end', cell: ({ requestedAt }) => <Time value={requestedAt} /> },
  ];
  return (
    <Page title={t('title')}>
      <Unseen onOpen={(open) => filters.set({ open })} />
      <Toggles
        label={t('status')}
        isSingle
        choices={[...useStatusChoices('approval'), { value: 'ALL', label: t('all') }]}
        selected={[status]}
        onChange={([chosen]) => filters.set({ status: chosen === 'WAITING' ? undefined : chosen })}
      />
      <List
        list={list}
        caption={t('caption')}
        columns={columns}
        rowKey={({ approvalId }) => approvalId}
        onOpen={({ approvalId }) => filters.set({ open: approvalId })}
        empty={status === 'WAITING' ? <NothingWaits /> : <Empty isFiltered title={t('empty')} />}
      />
      <SidePanel
        isOpen={openedId !== undefined}
        title={opened.data ? titleOf(opened.data) : t('title')}
        onClose={() => filters.set({ open: undefined })}
      >
        {opened.data ? (
          <ApprovalView approval={opened.data} onDecided={takeIn} />
        ) : opened.error ? (
          <Broken error={opened.error} />
        ) : (
          <Loading />
        )}
      </SidePanel>
    </Page>
  );
}

const APPROVALS = '/approvals';

/** What an operation answered is shown at once; the lists follow. */
function useTakeIn(): (approval: Approval) => void {
  const queries = useQueryClient();
  return (approval) => {
    queries.setQueryData([APPROVALS, approval.approvalId], approval);
    void queries.invalidateQueries({ queryKey: [APPROVALS] });
  };
}

/** Who asked is told, until they say that they know. */
function Unseen({ onOpen }: { onOpen(approvalId: string): void }) {
  const t = useTexts();
  const titleOf = useApprovalTitle();
  const takeIn = useTakeIn();
  const { data } = useQuery({
    queryKey: [APPROVALS, { unseen: 'true' }],
    queryFn: ({ signal }) => api.get('/approvals', { unseen: 'true' }, signal),
    enabled: useMayDo('finance'),
    refetchInterval: 60_000,
  });
  if (!data || data.approvals.length === 0) return null;
  return (
    <section className={styles.unseen} aria-label={t('unseenTitle')}>
      <h2 className={styles.unseenTitle}>{t('unseenTitle')}</h2>
      <ul>
        {data.approvals.map((approval) => (
          <Group key={approval.approvalId} component="li" gap="8px 12px" py={6}>
            <Status of="approval" value={approval.status} />
            <button type="button" className={styles.unseenOpen} onClick={() => onOpen(approval.approvalId)}>
              {titleOf(approval)} · <Money cents={approval.amountCent} />
            </button>
            <span className="quiet">{approval.result ?? approval.decisionNote}</span>
            <OwnStep approval={approval} step="seen" onDecided={takeIn} />
          </Group>
        ))}
      </ul>
    </section>
  );
}

function NothingWaits() {
  const t = useTexts();
  const { refundApprovalCent } = useSession();
  const hint =
    refundApprovalCent > 0 ? t('emptyWaitingHint', { amount: moneyText(refundApprovalCent) }) : t('emptyBulkHint');
  return <Empty title={t('emptyWaiting')} hint={hint} />;
}
