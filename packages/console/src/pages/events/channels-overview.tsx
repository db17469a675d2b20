import { Box, Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { places } from '../../address/places.ts';
import type { EventChannel } from '../../api/types.ts';
import { columnsOf } from '../../parts/lists/columns.tsx';
import { DataTable } from '../../parts/lists/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { PlaceLink, placeAddress } from '../../parts/values/place-link.tsx';
import { Time } from '../../parts/values/time.tsx';
import { useMayDo } from '../../session/session.ts';
import { backlogsQuery, Counted, DeliveryState, NextPush, SuccessRate, troubleOf } from './backlog.tsx';
import { useTexts } from './texts.ts';

const column = columnsOf<EventChannel>();

/** One row per channel. Channels that need attention are first. */
export function ChannelsOverview() {
  const t = useTexts();
  const found = useQuery(backlogsQuery());
  const isAdmin = useMayDo('admin');
  const columns = [
    column.text(t('channel'), 'name', { grows: true }),
    column.of(t('state'), (channel) => <DeliveryState channel={channel} />, { inCard: 'aside' }),
    column.of(t('oldest'), ({ oldestWaitingAt }) => <Time value={oldestWaitingAt} as="ago" />),
    column.of(t('nextPush'), ({ nextPushAt }) => <NextPush at={nextPushAt} />),
    column.of(t('waiting'), ({ waiting }) => <Counted value={waiting} />, { align: 'end' }),
    column.of(
      t('givenUp'),
      ({ appId, givenUp }) =>
        givenUp === 0 ? (
          <Counted value={0} />
        ) : (
          <PlaceLink to={places.events({ appId, status: 'GIVE_UP' })}>
            <Box component="span" c="var(--negative)" fw={500}>
              <Counted value={givenUp} />
            </Box>
          </PlaceLink>
        ),
      { align: 'end' },
    ),
    column.of(t('success'), (channel) => <SuccessRate channel={channel} />, { align: 'end' }),
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
