import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useFilters } from '../../address/filters.ts';
import { places } from '../../address/places.ts';
import { useChannelName } from '../../api/catalog.ts';
import { api } from '../../api/client.ts';
import type { EventLine } from '../../api/types.ts';
import { usePages } from '../../api/use-pages.ts';
import { EventIcon, RefreshIcon } from '../../icons/icons.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Copyable } from '../../parts/copyable.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { DayRangeFilter } from '../../parts/day-range-filter.tsx';
import { EVENT_TYPES, useEventTypeText } from '../../parts/event-type.ts';
import { ChoiceFilter, FilterBar, TextFilter } from '../../parts/filter-bar.tsx';
import { List } from '../../parts/list.tsx';
import { Count } from '../../parts/money.tsx';
import { notifyDone } from '../../parts/notify.ts';
import { Facts, Page } from '../../parts/page.tsx';
import { PlaceLink } from '../../parts/place-link.tsx';
import { Empty } from '../../parts/states.tsx';
import { Status, useStatusChoices } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { useMayDo } from '../../session/session.ts';
import { backlogsQuery, Counted, DeliveryState, NextPush, SuccessRate } from './backlog.tsx';
import { DeliveriesDialog } from './deliveries-dialog.tsx';
import { EventSheet } from './event-sheet.tsx';
import styles from './events.module.css';
import { EVENT_LIST_FILTERS, EVENT_PLACE } from './filters.ts';
import { ReplayAllDialog } from './replay-all-dialog.tsx';
import { TestEventDialog } from './test-event-dialog.tsx';
import { useTexts } from './texts.ts';

type Task = 'deliveries' | 'test' | 'replay-all' | 'replay-selected';
const NONE: ReadonlySet<string> = new Set();

/** The events of one channel, how its deliveries are, and what can be done about them. */
export function ChannelEvents({ appId }: { readonly appId: string }) {
  const t = useTexts();
  const name = useChannelName(appId);
  const typeText = useEventTypeText();
  const statuses = useStatusChoices('delivery');
  const maySend = useMayDo('support');
  const queries = useQueryClient();
  const place = useFilters(EVENT_PLACE);
  const filters = useFilters(EVENT_LIST_FILTERS);
  const [task, setTask] = useState<Task>();
  const [selected, setSelected] = useState(NONE);
  const list = usePages('/events', { appId, ...filters.values }, (page) => page.events);
  const backlog = useQuery(backlogsQuery).data?.find((one) => one.appId === appId);
  const close = () => setTask(undefined);
  const reload = () => {
    void queries.invalidateQueries({ queryKey: ['/events'] });
    void queries.invalidateQueries({ queryKey: backlogsQuery.queryKey });
  };
  const change = (changes: Parameters<typeof filters.set>[0]) => {
    setSelected(NONE);
    filters.set(changes);
  };

  const columns: readonly Column<EventLine>[] = [
    { id: 'type', header: t('event'), cell: ({ eventType }) => typeText(eventType) },
    {
      id: 'order',
      header: t('order'),
      cell: ({ orderNo }) => (
        <Copyable value={orderNo}>
          <PlaceLink to={places.order(orderNo)}>{orderNo}</PlaceLink>
        </Copyable>
      ),
    },
    { id: 'id', header: t('eventId'), cell: ({ eventId }) => <Copyable value={eventId} />, grows: true },
    {
      id: 'status',
      header: t('status'),
      cell: ({ deliveryStatus }) => <Status of="delivery" value={deliveryStatus} />,
      inCard: 'aside',
    },
    { id: 'pushes', header: t('pushes'), cell: ({ pushes }) => <Count value={pushes} />, align: 'end' },
    { id: 'last', header: t('lastPush'), cell: ({ lastPushTime }) => <Time value={lastPushTime} /> },
    { id: 'occurred', header: t('occurred'), cell: ({ occurredAt }) => <Time value={occurredAt} />, align: 'end' },
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
      {backlog ? (
        <div className={styles.facts}>
          <Facts
            facts={[
              [t('waiting'), <Counted key="waiting" value={backlog.waiting} />],
              [t('oldest'), <Time key="oldest" value={backlog.oldestWaitingAt} as="ago" />],
              [t('nextPush'), <NextPush key="next" at={backlog.nextPushAt} />],
              [t('success'), <SuccessRate key="success" channel={backlog} />],
              [t('givenUp'), <Counted key="given-up" value={backlog.givenUp} />],
              ...(backlog.withoutAddress > 0
                ? [[t('withoutAddress'), <Counted key="none" value={backlog.withoutAddress} />] as const]
                : []),
              [
                t('lastAnswer'),
                backlog.lastAnswer === null ? (
                  '–'
                ) : (
                  <span key="answer" className={`mono ${styles.answer}`}>
                    {backlog.lastAnswer}
                  </span>
                ),
              ],
              [
                t('addresses'),
                backlog.callbackUrls.length === 0
                  ? t('noAddress')
                  : backlog.callbackUrls.map(({ eventType, url }) => (
                      <span key={eventType} className={`mono ${styles.answer}`} title={typeText(eventType)}>
                        {url}
                      </span>
                    )),
              ],
            ]}
          />
        </div>
      ) : null}
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
        <ChoiceFilter
          label={t('status')}
          value={filters.values.status}
          choices={statuses}
          onChange={(status) => change({ status })}
        />
        <ChoiceFilter
          label={t('type')}
          value={filters.values.eventType}
          choices={EVENT_TYPES.map((value) => ({ value, label: typeText(value) }))}
          onChange={(eventType) => change({ eventType })}
        />
        <TextFilter
          label={t('filterOrder')}
          value={filters.values.orderNo}
          onChange={(orderNo) => change({ orderNo })}
        />
        <DayRangeFilter
          label={t('filterDays')}
          from={filters.values.from}
          to={filters.values.to}
          onChange={(range) => change(range)}
        />
      </FilterBar>
      {selected.size > 0 ? (
        <div className={styles.selection} role="status">
          <span>{t('selected', { count: selected.size })}</span>
          <Button size="xs" leftSection={<RefreshIcon size={14} />} onClick={() => setTask('replay-selected')}>
            {t('replay')}
          </Button>
          <Button size="xs" variant="subtle" color="gray" onClick={() => setSelected(NONE)}>
            {t('clear')}
          </Button>
        </div>
      ) : null}
      <List
        list={list}
        caption={t('caption', { name })}
        columns={columns}
        rowKey={({ eventId }) => eventId}
        onOpen={({ eventId }) => place.set({ event: eventId })}
        selection={maySend ? { selected, onChange: setSelected } : undefined}
        empty={
          filters.count > 0 ? (
            <Empty isFiltered title={t('emptyFiltered')} />
          ) : (
            <Empty title={t('empty')} hint={t('emptyHint')} />
          )
        }
      />
      <EventSheet
        appId={appId}
        eventId={place.values.event}
        onReplayed={reload}
        onClose={() => place.set({ event: undefined })}
      />
      {task === 'deliveries' ? (
        <DeliveriesDialog appId={appId} name={name} paused={backlog?.paused ?? []} onClose={close} />
      ) : null}
      {task === 'test' ? <TestEventDialog appId={appId} name={name} onClose={close} /> : null}
      {task === 'replay-all' ? (
        <ReplayAllDialog appId={appId} name={name} filter={filters.values} onClose={close} />
      ) : null}
      {task === 'replay-selected' ? (
        <ConfirmDialog
          isOpen
          title={t('replayTitle', { count: selected.size })}
          verb={t('replay')}
          onConfirm={async () => {
            const { replayed } = await api.post('/channels/{appId}/events/replay', { appId, eventIds: [...selected] });
            notifyDone(t('replayed', { count: replayed }));
            setSelected(NONE);
            reload();
          }}
          onClose={close}
        >
          <p>{t('replayHint')}</p>
        </ConfirmDialog>
      ) : null}
    </Page>
  );
}
