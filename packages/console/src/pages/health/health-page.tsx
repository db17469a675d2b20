import { Box, Group, SegmentedControl, SimpleGrid, Stack } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useMemo } from 'react';
import { useFilters } from '../../address/filters.ts';
import { places } from '../../address/places.ts';
import { api } from '../../api/client.ts';
import type { Health } from '../../api/types.ts';
import { benefitName } from '../../catalog/catalog.ts';
import { useLanguage } from '../../i18n/language.ts';
import { columnsOf } from '../../parts/lists/columns.tsx';
import { DataTable } from '../../parts/lists/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { useIsPhone } from '../../parts/use-is-phone.ts';
import { shareText } from '../../parts/values/change.tsx';
import type { ChartSeries } from '../../parts/values/chart.tsx';
import { ChartPart } from '../../parts/values/chart-part.tsx';
import { columnTexts } from '../../parts/values/column-texts.ts';
import { countText } from '../../parts/values/money.tsx';
import { placeAddress } from '../../parts/values/place-link.tsx';
import { Tag, type Tone } from '../../parts/values/status.tsx';
import { useTexts } from './texts.ts';

const RANGES = ['15m', '24h', '30d'] as const;

type Institution = Health['institutions'][number];
type Supplier = Health['suppliers'][number];
type Calls = Institution['calls'];
type Series = Institution['series'];

const Chart = lazy(() =>
  import('../../parts/values/chart.tsx').then(({ Chart: component }) => ({ default: component })),
);

/** Shows whether institutions, suppliers and channels answer, how, and how fast. */
export default function HealthPage() {
  const t = useTexts();
  const filters = useFilters(['range']);
  const range = RANGES.find((one) => one === filters.values.range) ?? '24h';
  const found = useQuery({
    queryKey: ['/health', range],
    queryFn: ({ signal }) => api.get('/health', { range }, signal),
    refetchInterval: 15_000,
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title={t('title')}
      actions={
        <SegmentedControl
          aria-label={t('range')}
          data={RANGES.map((value) => ({ value, label: t(value) }))}
          value={range}
          onChange={(chosen) => filters.set({ range: chosen === '24h' ? undefined : chosen })}
        />
      }
    >
      <Loaded query={found}>
        {({ institutions, suppliers, callbacks, range: shown }) => (
          <Stack gap={20} data-refreshing={found.isPlaceholderData || undefined}>
            <Institutions institutions={institutions} range={shown} />
            <Suppliers suppliers={suppliers} range={shown} />
            <Callbacks callbacks={callbacks} range={shown} />
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

const institutionColumn = columnsOf<Institution>();
const supplierColumn = columnsOf<Supplier>();
const channelColumn = columnsOf<Health['callbacks']['channels'][number]>();

interface InstitutionsProps {
  readonly institutions: readonly Institution[];
  readonly range: Health['range'];
}

function Institutions({ institutions, range }: InstitutionsProps) {
  const t = useTexts();
  const columns = [
    institutionColumn.text(t('name'), 'displayName', { grows: true }),
    institutionColumn.of(t('state'), (institution) => <State institution={institution} />, { inCard: 'aside' }),
    ...useCallColumns(institutionColumn),
    institutionColumn.of(t('debits'), ({ calls }) => <DebitRate calls={calls} />, { align: 'end' }),
  ];
  return (
    <Section title={t('institutions')} hint={t('institutionsHint')}>
      <CallCharts of={institutions.map(({ displayName: name, ...rest }) => ({ name, ...rest }))} range={range}>
        {institutions.length === 0 ? (
          <p className="quiet">{t('noInstitutions')}</p>
        ) : (
          <DataTable
            caption={t('institutions')}
            columns={columns}
            rows={institutions}
            rowKey={({ code }) => code}
            rowLink={({ code }) => placeAddress(places.paymentChannel(code))}
          />
        )}
      </CallCharts>
    </Section>
  );
}

function Suppliers({ suppliers, range }: { readonly suppliers: readonly Supplier[]; readonly range: Health['range'] }) {
  const t = useTexts();
  const language = useLanguage();
  const nameOf = (supplier: Supplier) => benefitName(supplier, language) ?? supplier.benefitCode;
  const columns = [
    supplierColumn.of(
      t('benefit'),
      (supplier) => (
        <>
          {nameOf(supplier)}{' '}
          {nameOf(supplier) === supplier.benefitCode ? null : (
            <span className="mono quiet">{supplier.benefitCode}</span>
          )}
        </>
      ),
      { grows: true },
    ),
    ...useCallColumns(supplierColumn),
  ];
  return (
    <Section title={t('suppliers')} hint={t('suppliersHint')}>
      <CallCharts of={suppliers.map((supplier) => ({ ...supplier, name: nameOf(supplier) }))} range={range}>
        {suppliers.length === 0 ? (
          <p className="quiet">{t('noSuppliers')}</p>
        ) : (
          <DataTable
            caption={t('suppliers')}
            columns={columns}
            rows={suppliers}
            rowKey={({ benefitCode }) => benefitCode}
            rowLink={({ benefitCode }) => placeAddress(`${places.benefits()}?code=${encodeURIComponent(benefitCode)}`)}
          />
        )}
      </CallCharts>
    </Section>
  );
}

interface CallbacksProps {
  readonly callbacks: Health['callbacks'];
  readonly range: Health['range'];
}

function Callbacks({ callbacks: { calls, series, channels }, range }: CallbacksProps) {
  const t = useTexts();
  const columns = [channelColumn.text(t('channel'), 'name', { grows: true }), ...useCallColumns(channelColumn)];
  return (
    <Section title={t('callbacks')} hint={t('callbacksHint')}>
      <CallCharts of={[{ name: t('allChannels'), calls, series }]} range={range}>
        {channels.length === 0 ? (
          <p className="quiet">{t('noCallbacks')}</p>
        ) : (
          <DataTable
            caption={t('callbacks')}
            columns={columns}
            rows={channels}
            rowKey={({ appId }) => appId}
            rowLink={({ appId }) => placeAddress(places.events({ appId }))}
          />
        )}
      </CallCharts>
    </Section>
  );
}

interface CallChartsProps {
  readonly of: readonly { readonly name: string; readonly calls: Calls; readonly series: Series }[];
  readonly range: Health['range'];
  readonly children: ReactNode;
}

/**
 * A chart of the calls over time for each peer that was called, below the table with all of them. On a phone above it,
 * because there the table is long.
 */
function CallCharts({ of, range, children }: CallChartsProps) {
  const isPhone = useIsPhone();
  const called = of.filter(({ calls }) => calls.calls > 0);
  const charts =
    called.length === 0 ? null : (
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing={16}>
        {called.map(({ name, series }) => (
          <CallChart key={name} name={name} series={series} range={range} />
        ))}
      </SimpleGrid>
    );
  return (
    <>
      {isPhone ? charts : null}
      {children}
      {isPhone ? null : charts}
    </>
  );
}

const CHART_HEIGHT = 110;

function CallChart({
  name,
  series,
  range,
}: {
  readonly name: string;
  readonly series: Series;
  readonly range: Health['range'];
}) {
  const t = useTexts();
  const language = useLanguage();
  const isPhone = useIsPhone();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the texts are those of the language
  const { columns, plots } = useMemo(() => {
    const plot = (label: string, color: ChartSeries['color'], countOf: (span: Series[number]) => number) => ({
      name: label,
      color,
      values: series.map(countOf),
    });
    return {
      columns: columnTexts(series, range),
      plots: [
        plot(t('otherAnswers'), '--chart-1', ({ calls, declined, unknown }) => calls - declined - unknown),
        plot(t('declined'), '--chart-3', ({ declined }) => declined),
        plot(t('unknown'), '--chart-2', ({ unknown }) => unknown),
      ],
    };
  }, [series, range, language]);
  return (
    <Stack component="section" gap={8} miw={0} p="12px 16px" bd="1px solid var(--line)" bdrs={10} aria-label={name}>
      <Group component="header" gap="4px 16px" justify="space-between">
        <Box component="h3" fz="sm" fw={500}>
          {name}
        </Box>
        <Group component="dl" gap="2px 16px">
          {plots.map(({ name: label, color, values }) => (
            <ChartPart
              key={color}
              // On a phone three names with their figures do not fit in a line.
              isSmall={!isPhone}
              name={label}
              color={color}
              value={countText(values.reduce((sum, value) => sum + value, 0))}
            />
          ))}
        </Group>
      </Group>
      <Box mih={CHART_HEIGHT}>
        <Suspense>
          <Chart
            {...columns}
            title={t('callsOf', { name })}
            series={plots}
            valueText={countText}
            tickText={countText}
            step={1}
            height={CHART_HEIGHT}
          />
        </Suspense>
      </Box>
    </Stack>
  );
}

function useCallColumns<Row extends { readonly calls: Calls }>(column: ReturnType<typeof columnsOf<Row>>) {
  const t = useTexts();
  const end = { align: 'end' } as const;
  return [
    column.of(t('calls'), ({ calls: { calls } }) => <Figure value={calls} />, end),
    column.of(t('succeeded'), ({ calls: { succeeded } }) => <Figure value={succeeded} />, end),
    column.of(t('declined'), ({ calls: { declined } }) => <Figure value={declined} />, end),
    column.of(
      t('unknown'),
      ({ calls: { unknown } }) => <Figure value={unknown} tone={unknown > 0 ? 'negative' : undefined} />,
      end,
    ),
    column.of(t('average'), ({ calls: { averageMs } }) => <Latency ms={averageMs} />, end),
    column.of(t('slowest'), ({ calls: { slowestMs } }) => <Latency ms={slowestMs} />, end),
  ];
}

function Figure({ value, tone }: { readonly value: number; readonly tone?: Tone | undefined }) {
  if (value === 0) return <span className="figures quiet">0</span>;
  return (
    <span className="figures" style={tone ? { color: `var(--${tone})` } : undefined}>
      {countText(value)}
    </span>
  );
}

function Latency({ ms }: { readonly ms: number | null }) {
  const t = useTexts();
  return ms === null ? (
    <span className="quiet">–</span>
  ) : (
    <span className="figures">{t('ms', { ms: countText(ms) })}</span>
  );
}

/** The share of debits with a result that succeeded. */
function DebitRate({ calls: { debitsPaid, debitsDeclined } }: { readonly calls: Calls }) {
  const total = debitsPaid + debitsDeclined;
  if (total === 0) return <span className="quiet">–</span>;
  return (
    <span className="figures">
      {shareText(debitsPaid / total)} <span className="quiet">{`${countText(debitsPaid)}/${countText(total)}`}</span>
    </span>
  );
}

function State({ institution }: { readonly institution: Institution }) {
  const t = useTexts();
  const { silentSince, decliningSince, debitsPausedAt, calls } = institution;
  if (silentSince !== null) {
    return (
      <Tag tone="negative">
        <span title={t('silentSince', { time: silentSince })}>{t('silent')}</span>
      </Tag>
    );
  }
  if (decliningSince !== null) {
    return (
      <Tag tone="negative">
        <span title={t('silentSince', { time: decliningSince })}>{t('declining')}</span>
      </Tag>
    );
  }
  if (debitsPausedAt !== null) return <Tag tone="waiting">{t('paused')}</Tag>;
  return calls.calls === 0 ? <Tag tone="neutral">{t('noCalls')}</Tag> : <Tag tone="positive">{t('answers')}</Tag>;
}
