import { Stack } from '@mantine/core';
import { type FilterControl, useFilters } from '../../address/filters.ts';
import { places } from '../../address/places.ts';
import type { Debit, RefundLine } from '../../api/order-types.ts';
import { usePages } from '../../api/use-pages.ts';
import { useChannelNames, useInstitutionNames, useProductNames } from '../../catalog/catalog.ts';
import { NameFilter } from '../../catalog/name-filter.tsx';
import { Toggles } from '../../parts/fields/toggles.tsx';
import { columnsOf } from '../../parts/lists/columns.tsx';
import type { Column } from '../../parts/lists/data-table.tsx';
import { DayRangeFilter } from '../../parts/lists/day-range-filter.tsx';
import { ChoiceFilter, FilterBar } from '../../parts/lists/filter-bar.tsx';
import { FoldedFilters } from '../../parts/lists/folded-filters.tsx';
import { List } from '../../parts/lists/list.tsx';
import { EmptyList, filterField, filterToggles } from '../../parts/lists/list-parts.tsx';
import { useTotals } from '../../parts/lists/totals-line.tsx';
import { countText, Money } from '../../parts/values/money.tsx';
import { PlaceLink } from '../../parts/values/place-link.tsx';
import { Status, useStatusChoices } from '../../parts/values/status.tsx';
import { Time } from '../../parts/values/time.tsx';
import { useMayDo } from '../../session/session.ts';
import { AmountFilter } from './amount-filter.tsx';
import { AskAll, AskOne } from './ask-now.tsx';
import { DEBIT_FILTERS, REFUND_FILTERS } from './filters.ts';
import { PaymentsFrame } from './payments-frame.tsx';
import { useTexts } from './texts.ts';
import { ListTotals } from './totals.tsx';

/** A list of rows without a result is read again after this time, because the results arrive one by one. */
const REFRESH_MS = 5_000;

/** Retries end long before this number of attempts. */
const ATTEMPTS = [1, 2, 3, 4, 5, 6] as const;

/** The debits sent to institutions, one row for each attempt. */
export function DebitList() {
  const t = useTexts();
  const filters = useFilters(DEBIT_FILTERS);
  const isOpen = filters.values.status === 'STARTED';
  const list = usePages(
    '/payments',
    filters.values,
    ({ payments }) => payments,
    isOpen ? { refetchInterval: REFRESH_MS } : {},
  );
  const columns = useDebitColumns(isOpen);
  return (
    <PaymentsFrame tab="debits" actions={<AskAll of="payments" filters={filters.values} rows={list.rows} />}>
      <Filters filters={filters} status="debit" time={t('debited')}>
        <ChoiceFilter
          label={t('attempt')}
          choices={ATTEMPTS.map((tryNo) => ({ value: String(tryNo), label: t('try', { tryNo }) }))}
          {...filterField(filters, 'tryNo')}
        />
      </Filters>
      <div>
        <ListTotals of="payments" filter={filters.values} />
        {isOpen ? <OpenElsewhere of="refunds" appId={filters.values.appId} /> : null}
        <List
          list={list}
          caption={t('debitsCaption')}
          columns={columns}
          rowKey={({ attemptNo }) => attemptNo}
          rowLink={({ orderNo }) => ({ to: '/orders/$orderNo', params: { orderNo } })}
          empty={<EmptyList filters={filters} t={(key) => t(`${key}Debits`)} />}
        />
      </div>
    </PaymentsFrame>
  );
}

export function RefundList() {
  const t = useTexts();
  const filters = useFilters(REFUND_FILTERS);
  const isOpen = filters.values.status === 'STARTED';
  const list = usePages(
    '/refunds',
    filters.values,
    ({ refunds }) => refunds,
    isOpen ? { refetchInterval: REFRESH_MS } : {},
  );
  const columns = useRefundColumns(isOpen);
  return (
    <PaymentsFrame tab="refunds" actions={<AskAll of="refunds" filters={filters.values} rows={list.rows} />}>
      <Filters filters={filters} status="refundLine" time={t('refundedAt')} />
      <div>
        <ListTotals of="refunds" filter={filters.values} />
        {isOpen ? <OpenElsewhere of="payments" appId={filters.values.appId} /> : null}
        <List
          list={list}
          caption={t('refundsCaption')}
          columns={columns}
          rowKey={({ refundNo }) => refundNo}
          rowLink={({ orderNo }) => ({ to: '/orders/$orderNo', params: { orderNo } })}
          empty={<EmptyList filters={filters} t={(key) => t(`${key}Refunds`)} />}
        />
      </div>
    </PaymentsFrame>
  );
}

interface FiltersProps {
  readonly filters: FilterControl<(typeof REFUND_FILTERS)[number]>;
  readonly status: 'debit' | 'refundLine';
  /** The name of the time that the day range selects by. */
  readonly time: string;
  readonly children?: React.ReactNode;
}

function Filters({ filters, status, time, children }: FiltersProps) {
  const t = useTexts();
  const { from, to, amountFrom, amountTo } = filters.values;
  return (
    <Stack gap={12}>
      <Toggles label={t('status')} choices={useStatusChoices(status)} {...filterToggles(filters, 'status')} />
      <FoldedFilters count={filters.count}>
        <FilterBar filters={filters}>
          <NameFilter
            label={t('institution')}
            choices={useInstitutionNames().choices}
            {...filterField(filters, 'paymentChannelCode')}
          />
          <NameFilter label={t('channel')} choices={useChannelNames().choices} {...filterField(filters, 'appId')} />
          <NameFilter
            label={t('product')}
            choices={useProductNames().choices}
            {...filterField(filters, 'productCode')}
          />
          <DayRangeFilter label={time} from={from} to={to} onChange={(days) => filters.set(days)} />
          <AmountFilter value={{ amountFrom, amountTo }} onChange={(range) => filters.set(range)} />
          {children}
        </FilterBar>
      </FoldedFilters>
    </Stack>
  );
}

/** Leads to the debits or refunds without a final result, because the overview counts both together. */
function OpenElsewhere({ of, appId }: { readonly of: 'payments' | 'refunds'; readonly appId: string | undefined }) {
  const t = useTexts();
  const filter = { status: 'STARTED', appId } as const;
  const { data } = useTotals(`/${of}/totals`, filter);
  if (!data || data.count === 0) return null;
  return (
    <p className="small">
      <PlaceLink to={places.payments({ ...filter, tab: of === 'refunds' ? 'refunds' : undefined })}>
        {t(of === 'refunds' ? 'openRefunds' : 'openDebits', { count: countText(data.count) })}
      </PlaceLink>
    </p>
  );
}

/** Returns the columns that debits and refunds have in common, before and after those of their own. */
function useCommonColumns<Row extends Debit | RefundLine>(kind: 'debit' | 'refundLine') {
  const t = useTexts();
  const products = useProductNames();
  const channels = useChannelNames();
  const institutions = useInstitutionNames();
  const column = columnsOf<Row>();
  return {
    first: [
      column.of(t('order'), ({ orderNo, cycleNo }) => (
        <span className="figures">
          {orderNo} <span className="quiet">· {t('periodOf', { cycleNo })}</span>
        </span>
      )),
      column.of(
        t('status'),
        ({ status, paymentStatus }) =>
          // A debit that was refunded later shows that.
          kind === 'debit' && status === 'SUCCESS' && paymentStatus.startsWith('REFUND') ? (
            <Status of="payment" value={paymentStatus} />
          ) : (
            <Status of={kind} value={status} />
          ),
        { inCard: 'aside' },
      ),
      column.of(
        t('product'),
        ({ productCode, appId, reason }) => (
          // The reason comes first, because a long one would otherwise be cut off.
          <span title={reason ?? undefined}>
            {reason ?? products.of(productCode)}{' '}
            <span className="quiet">
              {reason === null ? null : `· ${products.of(productCode)} `}· {channels.of(appId)}
            </span>
          </span>
        ),
        { grows: true, inCard: 'text' },
      ),
      column.of(t('institution'), ({ paymentChannelCode }) => institutions.of(paymentChannelCode)),
    ],
    amount: column.of(t('amount'), ({ amountCent }) => <Money cents={amountCent} />, { align: 'end' }),
    asks: column.of(t('asks'), ({ askAt }) => <Time value={askAt} />, { align: 'end' }),
  };
}

const ASK = { align: 'end', inCard: 'text' } as const;
const askColumn = <Row,>(column: Column<Row>): Column<Row> => ({ ...column, hidesHeader: true });

function useDebitColumns(isOpen: boolean): readonly Column<Debit>[] {
  const t = useTexts();
  const column = columnsOf<Debit>();
  const { first, amount, asks } = useCommonColumns<Debit>('debit');
  const mayAsk = useMayDo(['support', 'finance']);
  return [
    ...first,
    column.count(t('attempt'), 'tryNo', { inCard: 'none' }),
    amount,
    column.time(t('debited'), 'startedAt'),
    ...(isOpen ? [asks] : []),
    ...(isOpen && mayAsk
      ? [askColumn(column.of(t('askNow'), ({ attemptNo }) => <AskOne of="payments" number={attemptNo} />, ASK))]
      : []),
  ];
}

function useRefundColumns(isOpen: boolean): readonly Column<RefundLine>[] {
  const t = useTexts();
  const column = columnsOf<RefundLine>();
  const { first, amount, asks } = useCommonColumns<RefundLine>('refundLine');
  const mayAsk = useMayDo(['support', 'finance']);
  return [
    ...first,
    column.text(t('requestedBy'), 'requestedBy'),
    amount,
    column.time(t('refundedAt'), 'startedAt'),
    ...(isOpen ? [asks] : []),
    ...(isOpen && mayAsk
      ? [askColumn(column.of(t('askNow'), ({ refundNo }) => <AskOne of="refunds" number={refundNo} />, ASK))]
      : []),
  ];
}
