import { useFilters } from '../../address/filters.ts';
import { places } from '../../address/places.ts';
import type { Reconciliation } from '../../api/types.ts';
import { usePages } from '../../api/use-pages.ts';
import { useInstitutionNames } from '../../catalog/catalog.ts';
import type { Column } from '../../parts/lists/data-table.tsx';
import { ChoiceFilter, FilterBar } from '../../parts/lists/filter-bar.tsx';
import { List } from '../../parts/lists/list.tsx';
import { Empty } from '../../parts/states.tsx';
import { Count } from '../../parts/values/money.tsx';
import { placeAddress } from '../../parts/values/place-link.tsx';
import { Tag } from '../../parts/values/status.tsx';
import { Time } from '../../parts/values/time.tsx';
import { dayText, momentOf } from '../../parts/values/time-text.ts';
import { useTexts } from './texts.ts';

export function Days() {
  const t = useTexts();
  const filters = useFilters(['paymentChannelCode']);
  const institutions = useInstitutionNames();
  const list = usePages('/reconciliations', filters.values, (page) => page.reconciliations);
  const columns: readonly Column<Reconciliation>[] = [
    { id: 'day', header: t('day'), cell: ({ day }) => dayText(momentOf(day)) },
    { id: 'channel', header: t('paymentChannel'), cell: (one) => institutions.of(one.paymentChannelCode), grows: true },
    {
      id: 'open',
      header: t('open'),
      inCard: 'aside',
      cell: ({ open, differences }) =>
        open > 0 ? (
          <Tag tone="waiting">{t('openCount', { count: open })}</Tag>
        ) : (
          <Tag tone={differences === 0 ? 'positive' : 'neutral'}>{t(differences === 0 ? 'agreed' : 'allClosed')}</Tag>
        ),
    },
    { id: 'found', header: t('found'), cell: ({ differences }) => <Count value={differences} />, align: 'end' },
    { id: 'lines', header: t('lines'), cell: ({ lines }) => <Count value={lines} />, align: 'end' },
    {
      id: 'source',
      header: t('source'),
      cell: ({ source }) => <span className="quiet">{t(source === 'FILE' ? 'fromFile' : 'fromBridge')}</span>,
    },
    { id: 'by', header: t('runBy'), cell: ({ runBy }) => runBy, inCard: 'none' },
    { id: 'at', header: t('runAt'), cell: ({ runAt }) => <Time value={runAt} />, align: 'end' },
  ];
  return (
    <>
      <FilterBar filters={filters}>
        <ChoiceFilter
          label={t('paymentChannel')}
          value={filters.values.paymentChannelCode}
          choices={institutions.choices}
          onChange={(paymentChannelCode) => filters.set({ paymentChannelCode })}
        />
      </FilterBar>
      <List
        list={list}
        caption={t('daysCaption')}
        columns={columns}
        rowKey={({ paymentChannelCode, day }) => `${day} ${paymentChannelCode}`}
        rowLink={({ paymentChannelCode, day, open }) =>
          placeAddress(places.differences({ paymentChannelCode, day, which: open > 0 ? undefined : 'all' }))
        }
        empty={<Empty title={t('noDays')} hint={t('noDaysHint')} />}
      />
    </>
  );
}
