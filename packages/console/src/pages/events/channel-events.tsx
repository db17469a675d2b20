import { Box, Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useFilters } from '../../address/filters.ts';
import { places } from '../../address/places.ts';
import { useChannelName } from '../../api/catalog.ts';
import type { EventChannel, EventLine } from '../../api/types.ts';
import { usePages } from '../../api/use-pages.ts';
import { EventIcon, RefreshIcon } from '../../icons/icons.tsx';
import { columnsOf } from '../../parts/lists/columns.tsx';
import { DayRangeFilter } from '../../parts/lists/day-range-filter.tsx';
import { ChoiceFilter, FilterBar, TextFilter } from '../../parts/lists/filter-bar.tsx';
import { List } from '../../parts/lists/list.tsx';
import { EmptyList, filterField, known, OrderLink } from '../../parts/lists/list-parts.tsx';
import { Facts, Page } from '../../parts/page.tsx';
import { Copyable } from '../../parts/values/copyable.tsx';
import { EVENT_TYPES, useEventTypeText } from '../../parts/values/event-type.ts';
import { PlaceLink } from '../../parts/values/place-link.tsx';
import { useStatusChoices } from '../../parts/values/status.tsx';
import { Time } from '../../parts/values/time.tsx';
import { BEIJING, momentOf, timeText } from '../../parts/values/time-text.ts';
import { useMayDo } from '../../session/session.ts';
import { PrepareRunDialog } from '../bulk/prepare-run-dialog.tsx';
import { useRowChoice } from '../bulk/selection-bar.tsx';
import { backlogsQuery, Counted, DeliveryState, NextPush, SuccessRate } from './backlog.tsx';
import { DeliveriesDialog } from './deliveries-dialog.tsx';
import { EventSheet } from './event-sheet.tsx';
import styles from './events.module.css';
import { EVENT_LIST_FILTERS, EVENT_PLACE } from './filters.ts';
import { ReplayDialog } from './replay-dialog.tsx';
import { TestEventDialog } from './test-event-dialog.tsx';
import { useTexts } from './texts.ts';

type Task = 'deliveries' | 'test' | 'replay-all' | 'replay-selected';

const column = columnsOf<EventLine>();

/** Shows the events of one channel, its delivery status and its actions. */
export function ChannelEvents({ appId }: { readonly appId: string }) {
  const t = useTexts();
  const name = useChannelName(appId);
  const typeText = useEventTypeText();
  const statuses = useStatusChoices('delivery');
  const maySend = useMayDo('support');
  const place = useFilters(EVENT_PLACE);
  const filters = useFilters(EVENT_LIST_FILTERS);
  const [task, setTask] = useState<Task>();
  const choice = useRowChoice(filters.values);
  const { selected } = choice.selection;
  const list = usePages('/events', { appId, ...filters.values }, (page) => page.events);
  const backlog = useQuery(backlogsQuery(appId)).data?.[0];
  const close = () => setTask(undefined);
  const columns = [
    column.of(t('event'), ({ eventType }) => typeText(eventType)),
    column.of(t('order'), ({ orderNo }) => (
      <Copyable value={orderNo}>
        <OrderLink orderNo={orderNo} />
      </Copyable>
    )),
    column.copyable(t('eventId'), 'eventId', { grows: true }),
    column.status(t('status'), 'delivery', 'deliveryStatus'),
    column.count(t('pushes'), 'pushes'),
    column.time(t('lastPush'), 'lastPushTime'),
    column.time(t('occurred'), 'occurredAt'),
  ];
  return (
    <Page
      title={name}
      above={<PlaceLink to={places.events()}>{t('title')}</PlaceLink>}
      aside={backlog ? <DeliveryState channel={backlog} /> : null}
      actions={
        maySend ? (
          <>
            <Button variant="default" onClick={() => setTask('deliveries')}>
              {t('deliveries')}
            </Button>
            <Button variant="default" leftSection={<EventIcon size={16} />} onClick={() => setTask('test')}>
              {t('test')}
            </Button>
          </>
        ) : null
      }
    >
      {backlog ? <Backlog backlog={backlog} /> : null}
      <FilterBar
        filters={filters}
        aside={
          maySend ? (
            <Button
              variant="default"
              size="xs"
              leftSection={<RefreshIcon size={14} />}
              disabled={list.rows?.length === 0}
              onClick={() => setTask('replay-all')}
            >
              {t('replayAll')}
            </Button>
          ) : null
        }
      >
        <ChoiceFilter label={t('status')} choices={statuses} {...filterField(filters, 'status')} />
        <ChoiceFilter
          label={t('type')}
          choices={EVENT_TYPES.map((value) => ({ value, label: typeText(value) }))}
          {...filterField(filters, 'eventType')}
        />
        <TextFilter label={t('filterOrder')} {...filterField(filters, 'orderNo')} />
        <DayRangeFilter
          label={t('recorded')}
          from={filters.values.from}
          to={filters.values.to}
          onChange={(days) => filters.set(days)}
        />
      </FilterBar>
      {selected.size > 0 ? (
        <Group className="small" gap="8px 12px" mih={30} role="status">
          <span>{t('selected', { count: selected.size })}</span>
          <Button size="xs" leftSection={<RefreshIcon size={14} />} onClick={() => setTask('replay-selected')}>
            {t('replay')}
          </Button>
          <Button size="xs" variant="subtle" color="gray" onClick={choice.clear}>
            {t('clear')}
          </Button>
        </Group>
      ) : null}
      <List
        list={list}
        caption={t('caption', { name })}
        columns={columns}
        rowKey={({ eventId }) => eventId}
        onOpen={({ eventId }) => place.set({ event: eventId })}
        selection={maySend ? choice.selection : undefined}
        empty={<EmptyList filters={filters} t={t} />}
      />
      <EventSheet appId={appId} eventId={place.values.event} onClose={() => place.set({ event: undefined })} />
      {task === 'deliveries' ? (
        <DeliveriesDialog appId={appId} name={name} paused={backlog?.paused ?? []} onClose={close} />
      ) : null}
      {task === 'test' ? <TestEventDialog appId={appId} name={name} onClose={close} /> : null}
      {task === 'replay-all' ? (
        <PrepareRunDialog kind="REPLAY" what={{ filter: { appId, ...filters.values } }} onClose={close} />
      ) : null}
      {task === 'replay-selected' ? (
        <ReplayDialog appId={appId} eventIds={[...selected]} onReplayed={choice.clear} onClose={close} />
      ) : null}
    </Page>
  );
}

function Backlog({ backlog }: { readonly backlog: EventChannel }) {
  const t = useTexts();
  const typeText = useEventTypeText();
  return (
    <Box className={styles.facts} p="14px 16px" bd="1px solid var(--line)" bdrs={8}>
      <Facts
        facts={known([
          [t('waiting'), <Counted key="waiting" value={backlog.waiting} />],
          [t('oldest'), <Time key="oldest" value={backlog.oldestWaitingAt} as="ago" />],
          [t('nextPush'), <NextPush key="next" at={backlog.nextPushAt} />],
          [t('success'), <SuccessRate key="success" channel={backlog} />],
          [t('givenUp'), <Counted key="given-up" value={backlog.givenUp} />],
          [t('withoutAddress'), backlog.withoutAddress > 0 && <Counted key="none" value={backlog.withoutAddress} />],
          [
            t('lastAnswer'),
            <span key="answer" className="mono tiny">
              {backlog.lastAnswer ?? '–'}
            </span>,
          ],
          [
            t('addresses'),
            backlog.callbackUrls.length === 0
              ? t('noAddress')
              : backlog.callbackUrls.map(({ eventType, url, failingSince }) => (
                  <div key={eventType} className="tiny" title={typeText(eventType)}>
                    <span className="mono">{url}</span>
                    {failingSince === null ? null : (
                      <Box c="var(--negative)">
                        {t('failingSince', { time: timeText(momentOf(failingSince), BEIJING) })}
                      </Box>
                    )}
                  </div>
                )),
          ],
        ])}
      />
    </Box>
  );
}
