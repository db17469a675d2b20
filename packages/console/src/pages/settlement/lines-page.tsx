import { Button, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useFilters } from '../../address/filters.ts';
import { places } from '../../address/places.ts';
import { download } from '../../api/client.ts';
import { usePages } from '../../api/use-pages.ts';
import { useChannelNames, useProductNames } from '../../catalog/catalog.ts';
import { NameFilter } from '../../catalog/name-filter.tsx';
import { DownloadIcon } from '../../icons/icons.tsx';
import { Toggles } from '../../parts/fields/toggles.tsx';
import { columnsOf } from '../../parts/lists/columns.tsx';
import { ChoiceFilter, FilterBar } from '../../parts/lists/filter-bar.tsx';
import { List } from '../../parts/lists/list.tsx';
import { filterField, filterToggles } from '../../parts/lists/list-parts.tsx';
import { notifyProblem } from '../../parts/notify.ts';
import { Page } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { Copyable } from '../../parts/values/copyable.tsx';
import { moneyText } from '../../parts/values/money.tsx';
import { PlaceLink } from '../../parts/values/place-link.tsx';
import { Time } from '../../parts/values/time.tsx';
import { LINE_FILTERS } from './filters.ts';
import { monthName } from './month-name.ts';
import { useTexts } from './texts.ts';

type Line = NonNullable<ReturnType<typeof useLines>['rows']>[number];
type Kind = Line['kind'];
const useLines = (query: Parameters<typeof usePages<'/settlement/{month}/lines', unknown>>[1]) =>
  usePages('/settlement/{month}/lines', query, ({ lines }) => lines);

const KINDS = ['COLLECTED', 'REFUNDED', 'BILLED'] as const;
const MODES = ['SVC_DEDUCT', 'CHANNEL_COLLECT'] as const;
const column = columnsOf<Line>();

/** The number of the order is the number of the payment without its last four digits. */
const orderOf = ({ paymentOrderNo }: Line): string => paymentOrderNo.slice(0, -4);

/** The payments and refunds of a channel in a month. */
export default function LinesPage() {
  const t = useTexts();
  const filters = useFilters(LINE_FILTERS);
  const { month, appId, ...chosen } = filters.values;
  const channels = useChannelNames();
  if (!month || !appId)
    return (
      <Page title={t('lines')} above={<PlaceLink to={places.settlement()}>{t('title')}</PlaceLink>}>
        <Empty title={t('chooseChannel')} />
      </Page>
    );
  return (
    <Lines
      key={`${month} ${appId}`}
      title={channels.of(appId)}
      month={month}
      appId={appId}
      filters={{
        ...filters,
        count: Object.keys(chosen).length,
        clear: () => filters.set({ kind: '', productCode: '', settlementMode: '' }),
      }}
    />
  );
}

interface LinesProps {
  readonly title: string;
  readonly month: string;
  readonly appId: string;
  readonly filters: ReturnType<typeof useFilters<(typeof LINE_FILTERS)[number]>>;
}

function Lines({ title, month, appId, filters }: LinesProps) {
  const t = useTexts();
  const products = useProductNames();
  const { kind, productCode, settlementMode } = filters.values;
  const query = {
    month,
    appId,
    kind: kind as Kind | undefined,
    productCode,
    settlementMode: settlementMode as (typeof MODES)[number] | undefined,
  };
  const list = useLines(query);
  const save = useMutation({
    mutationFn: () => download('/settlement/{month}/lines/csv', query),
    onError: notifyProblem,
  });
  const columns = [
    column.of(t('time'), ({ time }) => <Time value={time} />),
    column.of(t('kind'), (line) => t(line.kind), { inCard: 'aside' }),
    column.of(t('number'), (line) => (
      <>
        <PlaceLink to={places.order(orderOf(line))} className="figures">
          {line.refundNo ?? line.paymentOrderNo}
        </PlaceLink>
        <span className="quiet"> · {t('periodOf', { cycleNo: line.cycleNo })}</span>
      </>
    )),
    column.of(t('external'), ({ externalOrderNo }) => <Copyable value={externalOrderNo} />, { grows: true }),
    column.of(t('product'), ({ productCode: code }) => <span title={code}>{products.of(code)}</span>),
    column.of(
      t('amount'),
      ({ kind: its, amountCent }) => (
        <span className="figures">{moneyText(its === 'REFUNDED' ? -amountCent : amountCent)}</span>
      ),
      { align: 'end' },
    ),
  ];
  return (
    <Page
      title={title}
      above={<PlaceLink to={places.settlement(month)}>{t('backTo', { month: monthName(month) })}</PlaceLink>}
      actions={
        <Button
          variant="default"
          leftSection={<DownloadIcon size={16} />}
          loading={save.isPending}
          onClick={() => save.mutate()}
        >
          {t('csv')}
        </Button>
      }
    >
      <Stack gap={12}>
        <Toggles
          label={t('kind')}
          choices={KINDS.map((value) => ({ value, label: t(value) }))}
          {...filterToggles(filters, 'kind')}
        />
        <FilterBar filters={filters}>
          <NameFilter label={t('product')} choices={products.choices} {...filterField(filters, 'productCode')} />
          <ChoiceFilter
            label={t('mode')}
            choices={MODES.map((value) => ({ value, label: t(value) }))}
            {...filterField(filters, 'settlementMode')}
          />
        </FilterBar>
      </Stack>
      <List
        list={list}
        caption={t('linesCaption', { name: title, month: monthName(month) })}
        columns={columns}
        rowKey={({ paymentOrderNo, refundNo }) => refundNo ?? paymentOrderNo}
        empty={<Empty isFiltered={filters.count > 0} title={t('linesNone')} />}
      />
    </Page>
  );
}
