import { Button, Stack } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useFilters } from '../../address/filters.ts';
import { api } from '../../api/client.ts';
import type { FailedPayment, FailedSummary } from '../../api/order-types.ts';
import { usePages } from '../../api/use-pages.ts';
import { useChannelNames, useInstitutionNames, useProductNames } from '../../catalog/catalog.ts';
import { NameFilter } from '../../catalog/name-filter.tsx';
import { useCommonTexts } from '../../i18n/common.ts';
import { RefreshIcon } from '../../icons/icons.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { DayRangeFilter } from '../../parts/day-range-filter.tsx';
import { ChoiceFilter, FilterBar } from '../../parts/filter-bar.tsx';
import { FoldedFilters } from '../../parts/folded-filters.tsx';
import { List } from '../../parts/list.tsx';
import { Money } from '../../parts/money.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, FormProblem } from '../../parts/states.tsx';
import { Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { Toggles } from '../../parts/toggles.tsx';
import { useMayDo } from '../../session/session.ts';
import { PrepareRunDialog } from '../bulk/prepare-run-dialog.tsx';
import { SelectionBar, useRowChoice } from '../bulk/selection-bar.tsx';
import { PAYMENTS_FILTERS } from './filters.ts';
import { Summary } from './summary.tsx';
import { useTexts } from './texts.ts';

const keyOf = ({ orderNo, cycleNo }: FailedPayment) => `${orderNo}-${cycleNo}`;

/** Those that are there, and the one that is chosen. */
const reasonsOf = (summary: FailedSummary | undefined, chosen: string | undefined): readonly string[] => [
  ...new Set([...(summary?.byReason.flatMap(({ reason }) => reason ?? []) ?? []), ...(chosen ? [chosen] : [])]),
];

export default function PaymentsPage() {
  const t = useTexts();
  const common = useCommonTexts();
  const filters = useFilters(PAYMENTS_FILTERS);
  const list = usePages('/payments/failed', filters.values, ({ payments }) => payments);
  const summary = useQuery({
    queryKey: ['/payments/failed/summary', filters.values],
    queryFn: ({ signal }) => api.get('/payments/failed/summary', filters.values, signal),
    placeholderData: keepPreviousData,
  });
  const mayRetry = useMayDo('support');
  const choice = useRowChoice(filters.values);
  const [isRetryingAll, setRetryingAll] = useState(false);
  const mayBeTriedAgain = filters.values.status !== 'FAIL';
  const isEmpty = list.rows?.length === 0 && filters.count === 0;
  return (
    <Page
      title={t('title')}
      actions={
        mayRetry && mayBeTriedAgain && (list.rows?.length ?? 0) > 0 ? (
          <Button variant="default" leftSection={<RefreshIcon size={16} />} onClick={() => setRetryingAll(true)}>
            {t('retryAll')}
          </Button>
        ) : null
      }
    >
      {isEmpty ? null : summary.error ? (
        <FormProblem error={summary.error} />
      ) : (
        <Summary summary={summary.data} filters={filters} />
      )}
      {isEmpty ? null : (
        <Stack gap={12}>
          <Toggles
            label={t('status')}
            isSingle
            choices={[
              { value: 'FAIL_RETRY', label: t('retrying') },
              { value: 'FAIL', label: t('failed') },
            ]}
            selected={filters.values.status ? [filters.values.status] : []}
            onChange={([status]) => filters.set({ status: status === filters.values.status ? undefined : status })}
          />
          <FoldedFilters count={filters.count}>
            <PaymentFilters filters={filters} reasons={reasonsOf(summary.data, filters.values.reason)} />
          </FoldedFilters>
        </Stack>
      )}
      <List
        list={list}
        caption={t('caption')}
        columns={useColumns()}
        rowKey={keyOf}
        rowLink={({ orderNo }) => ({ to: '/orders/$orderNo', params: { orderNo } })}
        selection={mayRetry ? choice.selection : undefined}
        empty={
          isEmpty ? (
            <Empty title={t('empty')} hint={t('emptyHint')} />
          ) : (
            <Empty isFiltered title={t('emptyFiltered')} hint={t('emptyFilteredHint')}>
              <Button variant="default" onClick={filters.clear}>
                {common('clearFilters')}
              </Button>
            </Empty>
          )
        }
      />
      <SelectionBar
        choice={choice}
        rows={list.rows ?? []}
        rowKey={keyOf}
        amountOf={({ amountCent }) => amountCent}
        hasMore={list.hasMore}
        mayChooseAll={mayBeTriedAgain}
        // Without a status those are counted too that cannot be tried again.
        matching={
          summary.data && filters.values.status === 'FAIL_RETRY'
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
    </Page>
  );
}

function useColumns(): readonly Column<FailedPayment>[] {
  const t = useTexts();
  const institutions = useInstitutionNames();
  return [
    {
      id: 'order',
      header: t('order'),
      cell: ({ orderNo, cycleNo }) => (
        <span className="figures">
          {orderNo} <span className="quiet">· {t('periodOf', { cycleNo })}</span>
        </span>
      ),
    },
    {
      id: 'status',
      header: t('status'),
      cell: ({ paymentStatus }) => <Status of="payment" value={paymentStatus} />,
      inCard: 'aside',
    },
    {
      id: 'reason',
      header: t('reason'),
      grows: true,
      inCard: 'text',
      cell: ({ reason }) => (
        <span title={reason ?? undefined}>{reason ?? <span className="quiet">{t('noReason')}</span>}</span>
      ),
    },
    { id: 'institution', header: t('institution'), cell: (row) => institutions.of(row.paymentChannelCode) },
    {
      id: 'tries',
      header: t('tries'),
      align: 'end',
      cell: ({ tries }) => <span className="figures">{tries}</span>,
    },
    { id: 'amount', header: t('amount'), align: 'end', cell: ({ amountCent }) => <Money cents={amountCent} /> },
    {
      id: 'failedAt',
      header: t('failedAt'),
      align: 'end',
      inCard: 'none',
      cell: ({ failedAt }) => <Time value={failedAt} />,
    },
    { id: 'nextTry', header: t('nextTry'), align: 'end', cell: ({ nextTryAt }) => <Time value={nextTryAt} /> },
  ];
}

interface PaymentFiltersProps {
  readonly filters: ReturnType<typeof useFilters<(typeof PAYMENTS_FILTERS)[number]>>;
  /** Those that are there. */
  readonly reasons: readonly string[];
}

function PaymentFilters({ filters, reasons }: PaymentFiltersProps) {
  const t = useTexts();
  const { values, set } = filters;
  return (
    <FilterBar filters={filters}>
      <ChoiceFilter
        label={t('reason')}
        choices={reasons.map((reason) => ({ value: reason, label: reason }))}
        value={values.reason}
        onChange={(reason) => set({ reason })}
      />
      <NameFilter
        label={t('institution')}
        choices={useInstitutionNames().choices}
        value={values.paymentChannelCode}
        onChange={(paymentChannelCode) => set({ paymentChannelCode })}
      />
      <NameFilter
        label={t('channel')}
        choices={useChannelNames().choices}
        value={values.appId}
        onChange={(appId) => set({ appId })}
      />
      <NameFilter
        label={t('product')}
        choices={useProductNames().choices}
        value={values.productCode}
        onChange={(productCode) => set({ productCode })}
      />
      <DayRangeFilter
        label={t('failedAt')}
        from={values.from}
        to={values.to}
        onChange={({ from, to }) => set({ from, to })}
      />
    </FilterBar>
  );
}
