import { Box, SegmentedControl, Select, Stack } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useFilters } from '../../address/filters.ts';
import { places } from '../../address/places.ts';
import { api } from '../../api/client.ts';
import type { Overview } from '../../api/types.ts';
import { columnsOf } from '../../parts/lists/columns.tsx';
import { DataTable } from '../../parts/lists/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { Empty, Loading } from '../../parts/states.tsx';
import { placeAddress } from '../../parts/values/place-link.tsx';
import { Time } from '../../parts/values/time.tsx';
import { Attention } from './attention.tsx';
import { FigureCards } from './figure-cards.tsx';
import { OVERVIEW_FILTERS } from './filters.ts';
import { NowStrip } from './now-strip.tsx';
import { useTexts } from './texts.ts';

const RANGES = ['24h', '30d', '12m'] as const;

export default function OverviewPage() {
  const t = useTexts();
  const filters = useFilters(OVERVIEW_FILTERS);
  const { range = '30d', appId } = filters.values;
  const found = useQuery({
    queryKey: ['/overview', range, appId],
    queryFn: ({ signal }) => api.get('/overview', { range, appId }, signal),
    // The service updates the figures every minute.
    refetchInterval: 60_000,
    placeholderData: keepPreviousData,
  });
  const known = useQuery({
    queryKey: ['/overview', range, undefined],
    queryFn: ({ signal }) => api.get('/overview', { range }, signal),
    staleTime: 60_000,
  });
  const channels = known.data?.channels ?? [];
  return (
    <Page
      title={t('title')}
      aside={found.data ? <AsOf asOf={found.data.asOf} /> : null}
      actions={
        <>
          {channels.length > 1 || appId ? (
            <Select
              size="xs"
              aria-label={t('channel')}
              placeholder={t('allChannels')}
              data={channels.map(({ appId: value, name }) => ({ value, label: name }))}
              value={appId ?? null}
              onChange={(chosen) => filters.set({ appId: chosen })}
              clearable
              w={{ base: 130, sm: 190 }}
            />
          ) : null}
          <SegmentedControl
            aria-label={t('range')}
            data={RANGES.map((value) => ({ value, label: t(value) }))}
            value={range}
            onChange={(chosen) => filters.set({ range: chosen })}
          />
        </>
      }
    >
      <Loaded query={found} meanwhile={<Loading />}>
        {(overview) => (
          <Stack gap={20} data-refreshing={found.isPlaceholderData || undefined}>
            <Attention overview={overview} />
            <NowStrip now={overview.now} appId={appId} />
            <FigureCards overview={overview} />
            <Channels overview={overview} />
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

/** Shows the time up to which the figures are complete. */
function AsOf({ asOf }: Pick<Overview, 'asOf'>) {
  const t = useTexts();
  return (
    <Box component="span" className="quiet tiny" fw={400} lts={0}>
      {asOf ? (
        <>
          {t('asOf')} <Time value={asOf} />
        </>
      ) : (
        t('notYet')
      )}
    </Box>
  );
}

const column = columnsOf<Overview['channels'][number]>();

function Channels({ overview }: { readonly overview: Overview }) {
  const t = useTexts();
  const columns = [
    column.text(t('channel'), 'name', { grows: 'third' }),
    column.of('App ID', ({ appId }) => <span className="mono quiet">{appId}</span>),
    column.count(t('ordersCreated'), 'ordersCreated'),
    column.count(t('debitsFailed'), 'debitsFailed'),
    column.money(t('volume'), 'volumeCent', { inCard: 'aside' }),
  ];
  return (
    <Section title={t('channels')} hint={t('channelsHint')}>
      {overview.channels.length === 0 ? (
        <Empty title={t('noChannels')} hint={t('noChannelsHint')} />
      ) : (
        <DataTable
          caption={t('channels')}
          columns={columns}
          rows={overview.channels}
          rowKey={({ appId }) => appId}
          rowLink={({ appId }) =>
            placeAddress(places.orders({ appId, createdFrom: overview.from, createdTo: overview.to }))
          }
        />
      )}
    </Section>
  );
}
