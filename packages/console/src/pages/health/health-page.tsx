import { Button, SegmentedControl, Stack } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useFilters } from '../../address/filters.ts';
import { places } from '../../address/places.ts';
import { api } from '../../api/client.ts';
import type { Health } from '../../api/types.ts';
import { EventIcon } from '../../icons/icons.tsx';
import { columnsOf } from '../../parts/lists/columns.tsx';
import { DataTable } from '../../parts/lists/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { countText } from '../../parts/values/money.tsx';
import { placeAddress } from '../../parts/values/place-link.tsx';
import { Tag, type Tone } from '../../parts/values/status.tsx';
import { useTexts } from './texts.ts';

const RANGES = ['15m', '24h', '30d'] as const;

type Institution = Health['institutions'][number];
type Supplier = Health['suppliers'][number];
type Calls = Institution['calls'];

/** Shows whether institutions and suppliers answer, how, and how fast. */
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
        {({ institutions, suppliers }) => (
          <Stack gap={20}>
            <Institutions institutions={institutions} />
            <Suppliers suppliers={suppliers} />
            <Section title={t('callbacks')} hint={t('callbacksHint')}>
              <div>
                <Button
                  variant="default"
                  leftSection={<EventIcon size={16} />}
                  renderRoot={(props) => <Link {...props} {...placeAddress(places.events())} />}
                >
                  {t('openEvents')}
                </Button>
              </div>
            </Section>
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

const institutionColumn = columnsOf<Institution>();
const supplierColumn = columnsOf<Supplier>();

function Institutions({ institutions }: { readonly institutions: readonly Institution[] }) {
  const t = useTexts();
  const columns = [
    institutionColumn.text(t('name'), 'displayName', { grows: true }),
    institutionColumn.of(t('state'), (institution) => <State institution={institution} />, { inCard: 'aside' }),
    ...useCallColumns(institutionColumn),
    institutionColumn.of(t('debits'), ({ calls }) => <DebitRate calls={calls} />, { align: 'end' }),
  ];
  return (
    <Section title={t('institutions')} hint={t('institutionsHint')}>
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
    </Section>
  );
}

function Suppliers({ suppliers }: { readonly suppliers: readonly Supplier[] }) {
  const t = useTexts();
  const columns = [
    supplierColumn.text(t('benefit'), 'benefitCode', { grows: true }),
    ...useCallColumns(supplierColumn),
  ];
  return (
    <Section title={t('suppliers')} hint={t('suppliersHint')}>
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
    </Section>
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
  const part = Math.round((debitsPaid / total) * 1000) / 10;
  return (
    <span className="figures">
      {part} % <span className="quiet">{`${countText(debitsPaid)}/${countText(total)}`}</span>
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
