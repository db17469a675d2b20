import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { places } from '../../address/places.ts';
import type { EventChannel } from '../../api/types.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { PlaceLink, placeAddress } from '../../parts/place-link.tsx';
import { Empty } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { useMayDo } from '../../session/session.ts';
import { backlogsQuery, Counted, DeliveryState, NextPush, SuccessRate, troubleOf } from './backlog.tsx';
import styles from './events.module.css';
import { useTexts } from './texts.ts';

/** One line for each channel; those that need somebody stand first. */
export function ChannelsOverview() {
  const t = useTexts();
  const found = useQuery(backlogsQuery);
  const isAdmin = useMayDo('admin');
  const columns: readonly Column<EventChannel>[] = [
    { id: 'channel', header: t('channel'), cell: ({ name }) => name, grows: true },
    {
      id: 'state',
      header: t('state'),
      cell: (channel) => <DeliveryState channel={channel} />,
      inCard: 'aside',
    },
    { id: 'oldest', header: t('oldest'), cell: ({ oldestWaitingAt }) => <Time value={oldestWaitingAt} as="ago" /> },
    { id: 'next', header: t('nextPush'), cell: ({ nextPushAt }) => <NextPush at={nextPushAt} /> },
    { id: 'waiting', header: t('waiting'), cell: ({ waiting }) => <Counted value={waiting} />, align: 'end' },
    {
      id: 'givenUp',
      header: t('givenUp'),
      align: 'end',
      cell: ({ appId, givenUp }) =>
        givenUp === 0 ? (
          <Counted value={0} />
        ) : (
          <PlaceLink to={places.events({ appId, status: 'GIVE_UP' })} className={styles.alarming}>
            <Counted value={givenUp} />
          </PlaceLink>
        ),
    },
    { id: 'success', header: t('success'), cell: (channel) => <SuccessRate channel={channel} />, align: 'end' },
  ];
  return (
    <Page title={t('title')}>
      <Loaded query={found}>
        {(channels) =>
          channels.length === 0 ? (
            <Empty title={t('noChannels')} hint={t('noChannelsHint')}>
              {isAdmin ? (
                <Button variant="default" renderRoot={(props) => <Link {...props} {...placeAddress('/channels')} />}>
                  {t('makeChannel')}
                </Button>
              ) : null}
            </Empty>
          ) : (
            <DataTable
              caption={t('channelsCaption')}
              columns={columns}
              rows={channels.toSorted((one, other) => troubleOf(other) - troubleOf(one))}
              rowKey={({ appId }) => appId}
              rowLink={({ appId }) => placeAddress(places.events({ appId }))}
            />
          )
        }
      </Loaded>
    </Page>
  );
}
