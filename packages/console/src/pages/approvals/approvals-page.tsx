import { Box, Button, Group } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useFilters } from '../../address/filters.ts';
import { api } from '../../api/client.ts';
import type { Approval } from '../../api/order-types.ts';
import { usePages } from '../../api/use-pages.ts';
import { SidePanel } from '../../parts/dialogs/dialog.tsx';
import { Toggles } from '../../parts/fields/toggles.tsx';
import { columnsOf } from '../../parts/lists/columns.tsx';
import { List } from '../../parts/lists/list.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Loading } from '../../parts/states.tsx';
import { Money, moneyText } from '../../parts/values/money.tsx';
import { Status, useStatusChoices } from '../../parts/values/status.tsx';
import { useMayDo, useSession } from '../../session/session.ts';
import { ApprovalView, OwnStep, useApprovalTitle, useResultText } from './approval-view.tsx';
import { useChangeText } from './change-list.tsx';
import { APPROVALS_FILTERS } from './filters.ts';
import { useTexts } from './texts.ts';

const column = columnsOf<Approval>();

export default function ApprovalsPage() {
  const t = useTexts();
  const titleOf = useApprovalTitle();
  const changeText = useChangeText();
  const filters = useFilters(APPROVALS_FILTERS);
  const status = filters.values.status ?? 'WAITING';
  const list = usePages(APPROVALS, status === 'ALL' ? {} : { status }, ({ approvals }) => approvals, {
    refetchInterval: 15_000,
  });
  // The open request is loaded separately: after a decision it leaves the list of waiting requests, but stays open.
  const { open: openedId } = filters.values;
  const opened = useQuery({
    queryKey: [APPROVALS, openedId],
    queryFn: ({ signal }) => api.get('/approvals/{approvalId}', { approvalId: openedId ?? '' }, signal),
    enabled: openedId !== undefined,
    placeholderData: () => list.rows?.find(({ approvalId }) => approvalId === openedId),
  });
  const takeIn = useTakeIn();
  const columns = [
    column.of(t('what'), (approval) => (
      <>
        {titleOf(approval)}
        {approval.orderNo ? <span className="figures quiet"> · {approval.orderNo}</span> : null}
      </>
    )),
    column.of(t('amount'), ({ kind, amountCent }) => (kind === 'CHANGE' ? null : <Money cents={amountCent} />), {
      align: 'end',
      inCard: 'aside',
    }),
    column.words(t('note'), (approval) => (approval.kind === 'CHANGE' ? changeText(approval) : approval.note)),
    column.text(t('by'), 'requestedBy'),
    column.of(t('status'), ({ status: now }) => <Status of="approval" value={now} />),
    column.time(t('at'), 'requestedAt'),
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
        <Loaded query={opened} meanwhile={<Loading />}>
          {(approval) => <ApprovalView approval={approval} onDecided={takeIn} />}
        </Loaded>
      </SidePanel>
    </Page>
  );
}

const APPROVALS = '/approvals';

/** Returns a function that shows an operation's answer at once and then reloads the lists. */
function useTakeIn(): (approval: Approval) => void {
  const queries = useQueryClient();
  return (approval) => {
    queries.setQueryData([APPROVALS, approval.approvalId], approval);
    void queries.invalidateQueries({ queryKey: [APPROVALS] });
  };
}

/**
 * Shows the outcome of the operator's own requests until the operator dismisses it, and the changes that the operator can
 * carry out.
 */
function Unseen({ onOpen }: { onOpen(approvalId: string): void }) {
  const t = useTexts();
  const resultText = useResultText();
  const titleOf = useApprovalTitle();
  const takeIn = useTakeIn();
  const { data } = useQuery({
    queryKey: [APPROVALS, { unseen: 'true' }],
    queryFn: ({ signal }) => api.get('/approvals', { unseen: 'true' }, signal),
    enabled: useMayDo(['support', 'finance']),
    refetchInterval: 60_000,
  });
  if (!data || data.approvals.length === 0) return null;
  return (
    <Box component="section" p="14px 16px" bd="1px solid var(--line)" bdrs="md" aria-label={t('unseenTitle')}>
      <Box component="h2" fz="0.9375rem" fw={600} mb={8}>
        {t('unseenTitle')}
      </Box>
      <ul>
        {data.approvals.map((approval) => (
          <Group key={approval.approvalId} component="li" gap="8px 12px" py={6}>
            <Status of="approval" value={approval.status} />
            <Button variant="subtle" size="compact-md" onClick={() => onOpen(approval.approvalId)}>
              {titleOf(approval)}
              {approval.kind === 'CHANGE' ? '' : ` · ${moneyText(approval.amountCent)}`}
            </Button>
            <span className="quiet">{approval.result === null ? approval.decisionNote : resultText(approval)}</span>
            {approval.isUnseen ? <OwnStep approval={approval} step="seen" onDecided={takeIn} /> : null}
          </Group>
        ))}
      </ul>
    </Box>
  );
}

function NothingWaits() {
  const t = useTexts();
  const { refundApprovalCent } = useSession();
  const hint =
    refundApprovalCent > 0 ? t('emptyWaitingHint', { amount: moneyText(refundApprovalCent) }) : t('emptyBulkHint');
  return <Empty title={t('emptyWaiting')} hint={hint} />;
}
