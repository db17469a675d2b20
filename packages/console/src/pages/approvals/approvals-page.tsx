import { useState } from 'react';
import { useFilters } from '../../address/filters.ts';
import type { Approval, Approvals } from '../../api/order-types.ts';
import { usePages } from '../../api/use-pages.ts';
import type { Column } from '../../parts/data-table.tsx';
import { SidePanel } from '../../parts/dialog.tsx';
import { List } from '../../parts/list.tsx';
import { Money, moneyText } from '../../parts/money.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { Status, useStatusChoices } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { Toggles } from '../../parts/toggles.tsx';
import { useSession } from '../../session/session.ts';
import { ApprovalView, useApprovalTitle } from './approval-view.tsx';
import { APPROVALS_FILTERS } from './filters.ts';
import { useTexts } from './texts.ts';

export default function ApprovalsPage() {
  const t = useTexts();
  const titleOf = useApprovalTitle();
  const filters = useFilters(APPROVALS_FILTERS);
  const [openedId, setOpenedId] = useState<string>();
  const status = filters.values.status ?? 'WAITING';
  const list = usePages<Approvals, Approval>(
    '/approvals',
    status === 'ALL' ? {} : { status },
    ({ approvals }) => approvals,
    { refetchInterval: 15_000 },
  );
  // What was decided leaves the list of what waits, but stays open until it is closed.
  const [decided, setDecided] = useState<Approval>();
  const opened = decided?.approvalId === openedId ? decided : list.rows?.find((row) => row.approvalId === openedId);
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
        onOpen={({ approvalId }) => setOpenedId(approvalId)}
        empty={status === 'WAITING' ? <NothingWaits /> : <Empty isFiltered title={t('empty')} />}
      />
      <SidePanel
        isOpen={opened !== undefined}
        title={opened ? titleOf(opened) : null}
        onClose={() => setOpenedId(undefined)}
      >
        {opened ? <ApprovalView approval={opened} onDecided={setDecided} /> : null}
      </SidePanel>
    </Page>
  );
}

function NothingWaits() {
  const t = useTexts();
  const { refundApprovalCent } = useSession();
  const hint =
    refundApprovalCent > 0 ? t('emptyWaitingHint', { amount: moneyText(refundApprovalCent) }) : t('emptyBulkHint');
  return <Empty title={t('emptyWaiting')} hint={hint} />;
}
