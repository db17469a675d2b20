import { Select } from '@mantine/core';
import { findResultCode, resultCodes } from '@perennial/wire/codes';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useFilters } from '../../address/filters.ts';
import { places } from '../../address/places.ts';
import { channelsQuery, useChannelChoices, useChannelName } from '../../api/catalog.ts';
import { api } from '../../api/client.ts';
import type { RequestLine, RequestsSummary } from '../../api/types.ts';
import { usePages } from '../../api/use-pages.ts';
import { Copyable } from '../../parts/copyable.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { DayRangeFilter } from '../../parts/day-range-filter.tsx';
import { ChoiceFilter, FilterBar, TextFilter } from '../../parts/filter-bar.tsx';
import { List } from '../../parts/list.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { countText } from '../../parts/money.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { PlaceLink } from '../../parts/place-link.tsx';
import { Sheet } from '../../parts/sheet.tsx';
import { Empty } from '../../parts/states.tsx';
import { Tag, type Tone } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { REQUEST_LIST_FILTERS } from './filters.ts';
import styles from './requests.module.css';
import { useTexts } from './texts.ts';

const SUCCESS = '0';
const FAILED = 'failed';

/** Why a channel gets what it gets: the last days' calls with code, reason and request id. */
export default function RequestsPage() {
  const t = useTexts();
  const place = useFilters(['appId']);
  const { appId } = place.values;
  const channels = useQuery(channelsQuery);
  const choices = useChannelChoices();
  return (
    <Page
      title={t('title')}
      actions={
        choices.length > 0 ? (
          <Select
            aria-label={t('channel')}
            placeholder={t('choose')}
            data={choices}
            value={appId ?? null}
            onChange={(chosen) => chosen && place.set({ appId: chosen })}
            searchable
          />
        ) : null
      }
    >
      {appId === undefined ? (
        <Loaded query={channels}>
          {(all) => <Empty title={all.length === 0 ? t('noChannels') : t('choose')} hint={t('chooseHint')} />}
        </Loaded>
      ) : (
        <ChannelRequests key={appId} appId={appId} />
      )}
    </Page>
  );
}

function ChannelRequests({ appId }: { readonly appId: string }) {
  const t = useTexts();
  const name = useChannelName(appId);
  const filters = useFilters(REQUEST_LIST_FILTERS);
  const [opened, setOpened] = useState<RequestLine>();
  const summary = useQuery({
    queryKey: ['/channels/{appId}/requests/summary', appId],
    queryFn: async ({ signal }) => (await api.get('/channels/{appId}/requests/summary', { appId }, signal)).codes,
    refetchInterval: 30_000,
  });
  const list = usePages('/channels/{appId}/requests', { appId, ...filters.values }, (page) => page.requests);
  const columns: readonly Column<RequestLine>[] = [
    { id: 'endpoint', header: t('endpoint'), cell: ({ endpoint }) => <span className="mono">{endpoint}</span> },
    { id: 'code', header: t('code'), cell: ({ code }) => <Code code={code} />, inCard: 'aside' },
    {
      id: 'reason',
      header: t('reason'),
      cell: ({ code, reason }) =>
        code === SUCCESS ? null : <span className="quiet">{reason ?? meaningOf(code) ?? t('callerHungUp')}</span>,
      grows: true,
      inCard: 'text',
    },
    {
      id: 'duration',
      header: t('duration'),
      cell: ({ durationMs }) => <span className="figures">{t('milliseconds', { count: countText(durationMs) })}</span>,
      align: 'end',
    },
    {
      id: 'requestId',
      header: t('requestId'),
      cell: ({ requestId }) => <Copyable value={requestId} />,
      inCard: 'none',
    },
    { id: 'at', header: t('time'), cell: ({ at }) => <Time value={at} />, align: 'end' },
  ];
  return (
    <>
      <Section title={t('summary')}>
        <Loaded query={summary}>
          {(all) =>
            all.length === 0 ? (
              <p className="quiet">{t('noCalls')}</p>
            ) : (
              <Summary codes={all} chosen={filters.values.code} onChoose={(code) => filters.set({ code })} />
            )
          }
        </Loaded>
      </Section>
      <FilterBar filters={filters}>
        <ChoiceFilter
          label={t('code')}
          value={filters.values.code}
          choices={[{ value: FAILED, label: t('failed') }, ...CODE_CHOICES]}
          onChange={(code) => filters.set({ code })}
        />
        <TextFilter
          label={t('filterEndpoint')}
          value={filters.values.endpoint}
          onChange={(endpoint) => filters.set({ endpoint })}
        />
        <TextFilter
          label={t('filterRequest')}
          value={filters.values.requestId}
          onChange={(requestId) => filters.set({ requestId })}
        />
        <DayRangeFilter
          label={t('filterDays')}
          from={filters.values.from}
          to={filters.values.to}
          onChange={(range) => filters.set(range)}
        />
      </FilterBar>
      <List
        list={list}
        caption={t('caption', { name })}
        columns={columns}
        rowKey={({ at, requestId }) => `${at} ${requestId}`}
        onOpen={(request) => setOpened(request)}
        empty={
          filters.count > 0 ? (
            <Empty isFiltered title={t('emptyFiltered')} />
          ) : (
            <Empty title={t('empty')} hint={t('emptyHint')} />
          )
        }
      />
      <Sheet isOpen={opened !== undefined} title={t('request')} onClose={() => setOpened(undefined)}>
        {opened ? (
          <Facts
            facts={[
              [t('code'), <Code key="code" code={opened.code} />],
              [t('meaning'), meaningOf(opened.code) ?? t('callerHungUp')],
              [t('endpoint'), <Copyable key="endpoint" value={opened.endpoint} />],
              [t('http'), opened.httpStatus],
              [t('time'), <Time key="time" value={opened.at} as="full" />],
              [t('duration'), t('milliseconds', { count: countText(opened.durationMs) })],
              [t('requestId'), <Copyable key="id" value={opened.requestId} />],
              [t('address'), <Copyable key="address" value={opened.address} />],
              [
                t('channel'),
                <PlaceLink key="channel" to={places.channel(appId)}>
                  {name}
                </PlaceLink>,
              ],
              [t('reason'), opened.reason ?? '–'],
            ]}
          />
        ) : null}
      </Sheet>
    </>
  );
}

const meaningOf = (code: string): string | undefined => findResultCode(code)?.message;
const CODE_CHOICES = resultCodes
  .map(({ code, message }) => ({ value: code, label: `${code} · ${message}` }))
  .toSorted((one, other) => one.value.localeCompare(other.value));

function toneOf(code: string): Tone {
  if (code === SUCCESS) return 'positive';
  if (code === '') return 'neutral';
  return code.startsWith('5') ? 'negative' : 'waiting';
}

function Code({ code }: { readonly code: string }) {
  const t = useTexts();
  return <Tag tone={toneOf(code)}>{code === '' ? t('hungUp') : code}</Tag>;
}

interface SummaryProps {
  readonly codes: RequestsSummary['codes'];
  readonly chosen: string | undefined;
  onChoose(code: string | undefined): void;
}

/** How often each code was answered; a press shows those calls. */
function Summary({ codes, chosen, onChoose }: SummaryProps) {
  const t = useTexts();
  const most = Math.max(...codes.map(({ count }) => count));
  return (
    <ul className={styles.summary}>
      {codes.map(({ code, meaning, count }) => (
        <li key={code}>
          <button
            type="button"
            className={styles.line}
            aria-pressed={chosen === code}
            title={t('askedForTheCode')}
            disabled={code === ''}
            onClick={() => onChoose(chosen === code ? undefined : code)}
          >
            <span>
              <Code code={code} />
            </span>
            <span className="one-line">{code === SUCCESS ? t('success') : meaning}</span>
            <span className={styles.track} aria-hidden="true">
              <span
                className={styles.bar}
                data-success={code === SUCCESS || undefined}
                style={{ display: 'block', width: `${(count / most) * 100}%` }}
              />
            </span>
            <span className={`figures ${styles.count}`}>{countText(count)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
