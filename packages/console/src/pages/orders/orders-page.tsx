import { Divider, Stack } from '@mantine/core';
import { type FilterControl, useFilters } from '../../address/filters.ts';
import type { OrderLine } from '../../api/order-types.ts';
import { usePages } from '../../api/use-pages.ts';
import { useChannelNames, useProductNames } from '../../catalog/catalog.ts';
import { NameFilter } from '../../catalog/name-filter.tsx';
import { Toggles } from '../../parts/fields/toggles.tsx';
import { DayRangeFilter } from '../../parts/lists/day-range-filter.tsx';
import { ChoiceFilter, FilterBar, TextFilter } from '../../parts/lists/filter-bar.tsx';
import { FoldedFilters } from '../../parts/lists/folded-filters.tsx';
import { List } from '../../parts/lists/list.tsx';
import { EmptyList, filterField } from '../../parts/lists/list-parts.tsx';
import { TotalsLine, useTotals } from '../../parts/lists/totals-line.tsx';
import { Page } from '../../parts/page.tsx';
import { moneyText } from '../../parts/values/money.tsx';
import { useStatusChoices } from '../../parts/values/status.tsx';
import { useMayDo } from '../../session/session.ts';
import { SelectionBar, useRowChoice } from '../bulk/selection-bar.tsx';
import { ORDERS_FILTERS } from './filters.ts';
import { useModeTexts } from './mode-words.ts';
import { useOrderColumns } from './order-columns.tsx';
import { useTexts } from './texts.ts';

const keyOf = ({ orderNo }: OrderLine) => orderNo;

export default function OrdersPage() {
  const t = useTexts();
  const filters = useFilters(ORDERS_FILTERS);
  const list = usePages('/orders', filters.values, ({ orders }) => orders);
  const columns = useOrderColumns({ withUser: true });
  const totals = useTotals('/orders/totals', filters.values);
  const maySupport = useMayDo('support');
  const mayRefund = useMayDo('finance');
  const choice = useRowChoice(filters.values);
  return (
    <Page title={t('orders')}>
      <OrderFilters filters={filters} />
      <div>
        <TotalsLine
          totals={totals}
          of="orders"
          filter={filters.values}
          textsOf={({ isAtLeast, totalPaidAmountCent, totalRefundAmountCent }, count) => [
            t(isAtLeast ? 'totalAtLeast' : 'totalOrders', { count }),
            [
              t('totalPaid', { amount: moneyText(totalPaidAmountCent) }),
              t('totalRefunded', { amount: moneyText(totalRefundAmountCent) }),
            ],
            t('ofThose', { count }),
          ]}
          exportedText={(count) => t('exportDone', { count })}
        />
        <List
          list={list}
          caption={t('caption')}
          columns={columns}
          rowKey={keyOf}
          rowLink={({ orderNo }) => ({ to: '/orders/$orderNo', params: { orderNo } })}
          selection={maySupport || mayRefund ? choice.selection : undefined}
          empty={<EmptyList filters={filters} t={t} />}
        />
      </div>
      <SelectionBar
        choice={choice}
        rows={list.rows ?? []}
        rowKey={keyOf}
        hasMore={list.hasMore}
        // All matching rows can be selected only with a filter. Without a filter these would be all orders, which the
        // service refuses.
        mayChooseAll={filters.count > 0}
        matching={totals.isPlaceholderData ? undefined : totals.data}
        filter={filters.values}
        actions={[
          ...(maySupport ? [{ kind: 'UNSUBSCRIBE' as const, label: t('unsubscribe'), itemOf: keyOf }] : []),
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

function OrderFilters({ filters }: { readonly filters: FilterControl<(typeof ORDERS_FILTERS)[number]> }) {
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
        <Divider orientation="vertical" m={4} />
        <Toggles
          label={t('failed')}
          choices={[{ value: 'failed', label: t('failedTrue') }]}
          selected={values.failed === 'true' ? ['failed'] : []}
          onChange={(selected) => set({ failed: selected.length > 0 ? 'true' : undefined })}
        />
      </Toggles>
      <FoldedFilters count={filters.count}>
        <FilterBar filters={filters}>
          <NameFilter label={t('channel')} choices={useChannelNames().choices} {...filterField(filters, 'appId')} />
          <NameFilter
            label={t('product')}
            choices={useProductNames().choices}
            {...filterField(filters, 'productCode')}
          />
          <ChoiceFilter
            label={t('mode')}
            choices={(['SVC_DEDUCT', 'CHANNEL_COLLECT'] as const).map((value) => ({ value, label: modeText(value) }))}
            {...filterField(filters, 'settlementMode')}
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
            <TextFilter label={t('userExact')} {...filterField(filters, 'channelUserId')} />
          ) : null}
        </FilterBar>
      </FoldedFilters>
    </Stack>
  );
}
