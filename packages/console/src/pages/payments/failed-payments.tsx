import { Box, Button, Stack } from '@mantine/core';
import { declineKinds } from '@perennial/wire/enums';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useFilters } from '../../address/filters.ts';
import { api } from '../../api/client.ts';
import type { FailedPayment } from '../../api/order-types.ts';
import { usePages } from '../../api/use-pages.ts';
import { useChannelNames, useInstitutionNames, useProductNames } from '../../catalog/catalog.ts';
import { useDeclineKinds } from '../../catalog/decline-kinds.ts';
import { NameFilter } from '../../catalog/name-filter.tsx';
import { RefreshIcon } from '../../icons/icons.tsx';
import { Toggles } from '../../parts/fields/toggles.tsx';
import { columnsOf } from '../../parts/lists/columns.tsx';
import { DayRangeFilter } from '../../parts/lists/day-range-filter.tsx';
import { ChoiceFilter, FilterBar } from '../../parts/lists/filter-bar.tsx';
import { FoldedFilters } from '../../parts/lists/folded-filters.tsx';
import { List } from '../../parts/lists/list.tsx';
import { EmptyList, filterField, filterToggles } from '../../parts/lists/list-parts.tsx';
import { FormProblem } from '../../parts/states.tsx';
import { Time } from '../../parts/values/time.tsx';
import { useMayDo } from '../../session/session.ts';
import { PrepareRunDialog } from '../bulk/prepare-run-dialog.tsx';
import { SelectionBar, useRowChoice } from '../bulk/selection-bar.tsx';
import { FAILED_FILTERS } from './filters.ts';
import { PaymentsFrame } from './payments-frame.tsx';
import { Summary } from './summary.tsx';
import { useTexts } from './texts.ts';

const keyOf = ({ orderNo, cycleNo }: FailedPayment) => `${orderNo}-${cycleNo}`;
const column = columnsOf<FailedPayment>();

/** The payments whose latest debit failed, with their sums by reason. */
export function FailedPayments() {
  const t = useTexts();
  const filters = useFilters(FAILED_FILTERS);
  const { status, reason: chosenReason, from, to } = filters.values;
  const institutions = useInstitutionNames();
  const kinds = useDeclineKinds();
  const channels = useChannelNames();
  const products = useProductNames();
  const list = usePages('/payments/failed', filters.values, ({ payments }) => payments);
  const summary = useQuery({
    queryKey: ['/payments/failed/summary', filters.values],
    queryFn: ({ signal }) => api.get('/payments/failed/summary', filters.values, signal),
    placeholderData: keepPreviousData,
  });
  const mayRetry = useMayDo('support');
  const choice = useRowChoice(filters.values);
  const [isRetryingAll, setRetryingAll] = useState(false);
  const mayBeTriedAgain = status !== 'FAIL';
  const isEmpty = list.rows?.length === 0 && !list.isRefreshing && filters.count === 0;
  const reasons = new Set([...(summary.data?.byReason ?? []).map(({ reason }) => reason), chosenReason]);
  const columns = [
    column.of(t('order'), ({ orderNo, cycleNo }) => (
      <span className="figures">
        {orderNo} <span className="quiet">· {t('periodOf', { cycleNo })}</span>
      </span>
    )),
    column.status(t('status'), 'payment', 'paymentStatus'),
    column.of(
      t('reason'),
      ({ reason, declineKind }) => (
        <>
          {kinds(declineKind)} <span className="quiet">· {reason ?? t('noReason')}</span>
        </>
      ),
      { grows: 'wraps', inCard: 'text' },
    ),
    column.of(t('institution'), ({ paymentChannelCode }) => institutions.of(paymentChannelCode)),
    column.count(t('tries'), 'tries'),
    column.money(t('amount'), 'amountCent'),
    column.of(
      t('failedAt'),
      ({ failedAt, nextTryAt }) => (
        <>
          <Time value={failedAt} />
          {nextTryAt === null ? null : (
            <Box className="quiet tiny">
              {t('nextTry')} <Time value={nextTryAt} />
            </Box>
          )}
        </>
      ),
      { align: 'end' },
    ),
  ];
  return (
    <PaymentsFrame
      tab="failed"
      actions={
        mayRetry && mayBeTriedAgain && (list.rows?.length ?? 0) > 0 ? (
          <Button variant="default" leftSection={<RefreshIcon size={16} />} onClick={() => setRetryingAll(true)}>
            {t('retryAll')}
          </Button>
        ) : null
      }
    >
      {isEmpty ? null : (
        <>
          <FormProblem error={summary.error} />
          {summary.error ? null : <Summary summary={summary.data} filters={filters} />}
          <Stack gap={12}>
            <Toggles
              label={t('status')}
              choices={[
                { value: 'FAIL_RETRY', label: t('retrying') },
                { value: 'FAIL', label: t('failedForGood') },
              ]}
              {...filterToggles(filters, 'status')}
            />
            <FoldedFilters count={filters.count}>
              <FilterBar filters={filters}>
                <ChoiceFilter
                  label={t('kind')}
                  choices={declineKinds.map((value) => ({ value, label: kinds(value) }))}
                  {...filterField(filters, 'declineKind')}
                />
                <ChoiceFilter
                  label={t('reason')}
                  choices={[...reasons].flatMap((value) => (value ? { value, label: value } : []))}
                  {...filterField(filters, 'reason')}
                />
                <NameFilter
                  label={t('institution')}
                  choices={institutions.choices}
                  {...filterField(filters, 'paymentChannelCode')}
                />
                <NameFilter label={t('channel')} choices={channels.choices} {...filterField(filters, 'appId')} />
                <NameFilter label={t('product')} choices={products.choices} {...filterField(filters, 'productCode')} />
                <DayRangeFilter label={t('failedAt')} from={from} to={to} onChange={(days) => filters.set(days)} />
              </FilterBar>
            </FoldedFilters>
          </Stack>
        </>
      )}
      <List
        list={list}
        caption={t('caption')}
        columns={columns}
        rowKey={keyOf}
        rowLink={({ orderNo }) => ({ to: '/orders/$orderNo', params: { orderNo } })}
        selection={mayRetry ? choice.selection : undefined}
        empty={<EmptyList filters={filters} t={t} />}
      />
      <SelectionBar
        choice={choice}
        rows={list.rows ?? []}
        rowKey={keyOf}
        amountOf={({ amountCent }) => amountCent}
        hasMore={list.hasMore}
        mayChooseAll={mayBeTriedAgain}
        // Passes the count only if the status filter is FAIL_RETRY: otherwise it would include payments that cannot be
        // retried.
        matching={
          summary.data && !summary.isPlaceholderData && status === 'FAIL_RETRY'
            ? { count: summary.data.total.payments, isAtLeast: summary.data.isAtLeast }
            : undefined
        }
        filter={filters.values}
        actions={
          mayRetry
            ? [
                {
                  kind: 'RETRY',
                  label: t('retry'),
                  itemOf: (row) => (row.paymentStatus === 'FAIL_RETRY' ? keyOf(row) : undefined),
                },
                {
                  kind: 'UNSUBSCRIBE',
                  label: t('unsubscribe'),
                  itemOf: ({ orderNo }) => orderNo,
                  isForNamedOnly: true,
                },
              ]
            : []
        }
      />
      {isRetryingAll ? (
        <PrepareRunDialog kind="RETRY" what={{ filter: { ...filters.values } }} onClose={() => setRetryingAll(false)} />
      ) : null}
    </PaymentsFrame>
  );
}
