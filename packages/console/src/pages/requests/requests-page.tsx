import { Progress, Select, Stack, UnstyledButton } from '@mantine/core';
import { findResultCode, resultCodes } from '@perennial/wire/codes';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type FilterControl, useFilters } from '../../address/filters.ts';
import { places } from '../../address/places.ts';
import { channelsQuery, useChannelChoices, useChannelName } from '../../api/catalog.ts';
import { api } from '../../api/client.ts';
import type { RequestLine, RequestsSummary } from '../../api/types.ts';
import { usePages } from '../../api/use-pages.ts';
import { Sheet } from '../../parts/dialogs/sheet.tsx';
import { columnsOf } from '../../parts/lists/columns.tsx';
import { DayRangeFilter } from '../../parts/lists/day-range-filter.tsx';
import { ChoiceFilter, FilterBar, TextFilter } from '../../parts/lists/filter-bar.tsx';
import { List } from '../../parts/lists/list.tsx';
import { EmptyList, filterField, filterToggles } from '../../parts/lists/list-parts.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { Copyable } from '../../parts/values/copyable.tsx';
import { countText } from '../../parts/values/money.tsx';
import { PlaceLink } from '../../parts/values/place-link.tsx';
import { Tag, type Tone } from '../../parts/values/status.tsx';
import { Time } from '../../parts/values/time.tsx';
import { REQUEST_LIST_FILTERS } from './filters.ts';
import styles from './requests.module.css';
import { useTexts } from './texts.ts';

const SUCCESS = '0';
const FAILED = 'failed';

/** Shows a channel's API calls of the last days with result code, reason and request id. */
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

const column = columnsOf<RequestLine>();

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
  const meaningOf = (code: string) => findResultCode(code)?.message ?? t('callerHungUp');
  const durationText = ({ durationMs }: RequestLine) => t('milliseconds', { count: countText(durationMs) });
  const columns = [
    column.of(t('endpoint'), ({ endpoint }) => <span className="mono">{endpoint}</span>),
    column.of(t('code'), ({ code }) => <Code code={code} />, { inCard: 'aside' }),
    column.words(t('reason'), ({ code, reason }) => (code === SUCCESS ? null : (reason ?? meaningOf(code)))),
    column.of(t('duration'), (request) => <span className="figures">{durationText(request)}</span>, { align: 'end' }),
    column.copyable(t('requestId'), 'requestId', { inCard: 'none' }),
    column.time(t('time'), 'at'),
  ];
  return (
    <>
      <Section title={t('summary')}>
        <Loaded query={summary}>
          {(all) =>
            all.length === 0 ? <p className="quiet">{t('noCalls')}</p> : <Summary codes={all} filters={filters} />
          }
        </Loaded>
      </Section>
      <FilterBar filters={filters}>
        <ChoiceFilter
          label={t('code')}
          choices={[{ value: FAILED, label: t('failed') }, ...CODE_CHOICES]}
          {...filterField(filters, 'code')}
        />
        <TextFilter label={t('filterEndpoint')} {...filterField(filters, 'endpoint')} />
        <TextFilter label={t('requestId')} {...filterField(filters, 'requestId')} />
        <DayRangeFilter
          label={t('filterDays')}
          from={filters.values.from}
          to={filters.values.to}
          onChange={(days) => filters.set(days)}
        />
      </FilterBar>
      <List
        list={list}
        caption={t('caption', { name })}
        columns={columns}
        rowKey={(request) => `${request.at} ${request.requestId}`}
        onOpen={(request) => setOpened(request)}
        empty={<EmptyList filters={filters} t={t} />}
      />
      <Sheet isOpen={opened !== undefined} title={t('request')} onClose={() => setOpened(undefined)}>
        {opened ? (
          <Facts
            facts={[
              [t('code'), <Code key="code" code={opened.code} />],
              [t('meaning'), meaningOf(opened.code)],
              [t('endpoint'), <Copyable key="endpoint" value={opened.endpoint} />],
              [t('http'), opened.httpStatus],
              [t('time'), <Time key="time" value={opened.at} as="full" />],
              [t('duration'), durationText(opened)],
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
  readonly filters: FilterControl<(typeof REQUEST_LIST_FILTERS)[number]>;
}

/** Shows how many calls got each result code. A click filters the calls by the code. */
function Summary({ codes, filters }: SummaryProps) {
  const t = useTexts();
  const most = Math.max(...codes.map(({ count }) => count));
  const { selected, onChange } = filterToggles(filters, 'code');
  return (
    <Stack component="ul" className="small" gap={2}>
      {codes.map(({ code, meaning, count }) => (
        <li key={code}>
          <UnstyledButton
            className={styles.line}
            aria-pressed={selected.includes(code)}
            title={t('askedForTheCode')}
            disabled={code === ''}
            onClick={() => onChange([code])}
          >
            <span>
              <Code code={code} />
            </span>
            <span className="one-line">{code === SUCCESS ? t('success') : meaning}</span>
            <Progress
              className={styles.track ?? ''}
              size={6}
              color={code === SUCCESS ? 'var(--chart-1)' : 'var(--chart-2)'}
              value={(count / most) * 100}
              aria-hidden="true"
            />
            <span className="figures">{countText(count)}</span>
          </UnstyledButton>
        </li>
      ))}
    </Stack>
  );
}
