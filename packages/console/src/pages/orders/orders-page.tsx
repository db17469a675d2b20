import { Button, Stack } from '@mantine/core';
import { useFilters } from '../../address/filters.ts';
import type { OrderLine } from '../../api/order-types.ts';
import { usePages } from '../../api/use-pages.ts';
import { useChannelNames, useProductNames } from '../../catalog/catalog.ts';
import { NameFilter } from '../../catalog/name-filter.tsx';
import { useCommonTexts } from '../../i18n/common.ts';
import { DayRangeFilter } from '../../parts/day-range-filter.tsx';
import { ChoiceFilter, FilterBar, TextFilter } from '../../parts/filter-bar.tsx';
import { FoldedFilters } from '../../parts/folded-filters.tsx';
import { List } from '../../parts/list.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { useStatusChoices } from '../../parts/status.tsx';
import { Toggles } from '../../parts/toggles.tsx';
import { useMayDo } from '../../session/session.ts';
import { SelectionBar, useRowChoice } from '../bulk/selection-bar.tsx';
import { ORDERS_FILTERS } from './filters.ts';
import { useModeTexts } from './mode-words.ts';
import { useOrderColumns } from './order-columns.tsx';
import styles from './orders.module.css';
import { useTexts } from './texts.ts';
import { TotalsLine, useTotals } from './totals-line.tsx';

export default function OrdersPage() {
  const t = useTexts();
  const filters = useFilters(ORDERS_FILTERS);
  const list = usePages('/orders', filters.values, ({ orders }) => orders);
  const columns = useOrderColumns({ withUser: true });
  const totals = useTotals(filters.values);
  const maySupport = useMayDo('support');
  const mayRefund = useMayDo('finance');
  const choice = useRowChoice(filters.values);
  return (
    <Page title={t('title')}>
      <OrderFilters filters={filters} />
      <div>
        <TotalsLine filter={filters.values} />
        <List
          list={list}
          caption={t('caption')}
          columns={columns}
          rowKey={({ orderNo }) => orderNo}
          rowLink={({ orderNo }) => ({ to: '/orders/$orderNo', params: { orderNo } })}
          selection={maySupport || mayRefund ? choice.selection : undefined}
          empty={
            filters.count > 0 ? (
              <Empty isFiltered title={t('emptyFiltered')} hint={t('emptyFilteredHint')}>
                <ClearButton onClick={filters.clear} />
              </Empty>
            ) : (
              <Empty title={t('empty')} hint={t('emptyHint')} />
            )
          }
        />
      </div>
      <SelectionBar
        choice={choice}
        rows={list.rows ?? []}
        rowKey={({ orderNo }) => orderNo}
        hasMore={list.hasMore}
        // Every order that there is would be meant; the service refuses that too.
        mayChooseAll={filters.count > 0}
        matching={totals.data}
        filter={filters.values}
        actions={[
          ...(maySupport
            ? [{ kind: 'UNSUBSCRIBE' as const, label: t('unsubscribe'), itemOf: (row: OrderLine) => row.orderNo }]
            : []),
          ...(mayRefund
            ? [
                {
                  kind: 'REFUND' as const,
                  label: t('refund'),
                  itemOf: ({ orderNo, cycleNo }: OrderLine) => `${orderNo}-${cycleNo}`,
                },
              ]
            : []),
        ]}
      />
    </Page>
  );
}

function ClearButton({ onClick }: { onClick(): void }) {
  const common = useCommonTexts();
  return (
    <Button variant="default" onClick={onClick}>
      {common('clearFilters')}
    </Button>
  );
}

function OrderFilters({
  filters,
}: {
  readonly filters: ReturnType<typeof useFilters<(typeof ORDERS_FILTERS)[number]>>;
}) {
  const t = useTexts();
  const modeText = useModeTexts();
  const statuses = useStatusChoices('order');
  const { values, set } = filters;
  return (
    <Stack gap={12}>
      <Toggles
        label={t('status')}
        choices={statuses}
        selected={values.status?.split(',') ?? []}
        onChange={(selected) => set({ status: selected.join() })}
      >
        <span className={styles.divider} />
        <Toggles
          label={t('failed')}
          choices={[
            { value: 'failed', label: t('failedTrue') },
            { value: 'unsettled', label: t('unsettledTrue') },
          ]}
          selected={(['failed', 'unsettled'] as const).filter((name) => values[name] === 'true')}
          onChange={(selected) =>
            set({
              failed: selected.includes('failed') ? 'true' : undefined,
              unsettled: selected.includes('unsettled') ? 'true' : undefined,
            })
          }
        />
      </Toggles>
      <FoldedFilters count={filters.count}>
        <FilterBar filters={filters}>
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
          <ChoiceFilter
            label={t('mode')}
            choices={(['SVC_DEDUCT', 'CHANNEL_COLLECT'] as const).map((value) => ({ value, label: modeText(value) }))}
            value={values.settlementMode}
            onChange={(settlementMode) => set({ settlementMode })}
          />
          <DayRangeFilter
            label={t('created')}
            from={values.createdFrom}
            to={values.createdTo}
            onChange={({ from, to }) => set({ createdFrom: from, createdTo: to })}
          />
          <DayRangeFilter
            label={t('due')}
            isAhead
            from={values.dueFrom}
            to={values.dueTo}
            onChange={({ from, to }) => set({ dueFrom: from, dueTo: to })}
          />
          {values.channelUserId ? (
            <TextFilter
              label={t('userExact')}
              value={values.channelUserId}
              onChange={(channelUserId) => set({ channelUserId })}
            />
          ) : null}
        </FilterBar>
      </FoldedFilters>
    </Stack>
  );
}
