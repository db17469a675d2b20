import { SimpleGrid } from '@mantine/core';
import type { ReactNode } from 'react';
import { places } from '../../address/places.ts';
import type { Overview } from '../../api/types.ts';
import { now as clock } from '../../clock.ts';
import { Figure } from '../../parts/lists/list-parts.tsx';
import { countText } from '../../parts/values/money.tsx';
import { PlaceLink } from '../../parts/values/place-link.tsx';
import { Time } from '../../parts/values/time.tsx';
import { momentOf } from '../../parts/values/time-text.ts';
import styles from './overview.module.css';
import { useTexts } from './texts.ts';

/** Returns the day, in Beijing time, that is the given number of days after today. */
const dayFromToday = (days: number): string =>
  new Date(clock() + (8 * 3600 + days * 86_400) * 1000).toISOString().slice(0, 10);

/** A count older than this is shown with its time. Very large installations count orders less than once a minute. */
const OLD_MS = 180_000;

/** Shows the current state. */
export function NowStrip({ now, appId }: Pick<Overview, 'now'> & { readonly appId: string | undefined }) {
  const t = useTexts();
  const { ordersCountedAt, oldestUnsettledAt, oldestEventAt } = now;
  const ago = (words: string, at: string | null) =>
    at && (
      <>
        {words} <Time value={at} as="ago" />
      </>
    );
  const isOld = ordersCountedAt !== null && clock() - momentOf(ordersCountedAt).getTime() > OLD_MS;
  const counted = isOld && ago(t('countedAt'), ordersCountedAt);
  const today = { dueFrom: dayFromToday(0), dueTo: dayFromToday(1) };
  const tiles: readonly (readonly [name: string, value: number, to: string, more?: ReactNode])[] = [
    [t('activeOrders'), now.activeOrders, places.orders({ status: 'ACTIVE', appId }), counted],
    [
      t('renewalsToday'),
      now.renewalsDoneToday,
      places.orders({ appId, ...today }),
      t('stillDue', { due: countText(now.renewalsDueToday) }),
    ],
    [t('waitingForRetry'), now.waitingForRetry, places.failedPayments({ status: 'FAIL_RETRY', appId }), counted],
    [
      t('unsettled'),
      now.unsettledOrders,
      places.payments({ status: 'STARTED', appId }),
      ago(t('oldest'), oldestUnsettledAt) ?? t('unsettledHint'),
    ],
    [t('eventsWaiting'), now.eventsWaiting, places.events(), ago(t('oldest'), oldestEventAt)],
    [t('eventsGivenUp'), now.eventsGivenUp, places.events()],
  ];
  return (
    <SimpleGrid
      className={styles.strip ?? ''}
      cols={{ base: 2, sm: 3, md: 6 }}
      spacing={1}
      role="region"
      aria-label={t('now')}
    >
      {tiles.map(([name, value, to, more]) => (
        <PlaceLink key={name} to={to} className={styles.tile}>
          <span className="quiet small">{name}</span>
          {/* A single event given up is already a problem. */}
          <Figure size="1.25rem" c={name === t('eventsGivenUp') && value > 0 ? 'var(--negative)' : 'inherit'}>
            {countText(value)}
          </Figure>
          {more ? <span className="quiet tiny">{more}</span> : null}
        </PlaceLink>
      ))}
    </SimpleGrid>
  );
}
