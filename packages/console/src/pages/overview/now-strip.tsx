import type { ReactNode } from 'react';
import { places } from '../../address/places.ts';
import type { Overview } from '../../api/types.ts';
import { now as clock } from '../../clock.ts';
import { countText } from '../../parts/money.tsx';
import { PlaceLink } from '../../parts/place-link.tsx';
import { Time } from '../../parts/time.tsx';
import { momentOf } from '../../parts/time-text.ts';
import styles from './overview.module.css';
import { useTexts } from './texts.ts';

interface TileProps {
  readonly name: string;
  readonly value: number;
  readonly to: string;
  readonly more?: ReactNode;
  /** Any of it is bad news. */
  readonly isBad?: boolean;
}

function Tile({ name, value, to, more, isBad }: TileProps) {
  return (
    <PlaceLink to={to} className={styles.tile}>
      <span className="quiet small">{name}</span>
      <span className={`figures ${styles.tileValue}`} data-bad={(isBad && value > 0) || undefined}>
        {countText(value)}
      </span>
      {more ? <span className="quiet tiny">{more}</span> : null}
    </PlaceLink>
  );
}

/** A day of Beijing, so many days from today. */
const dayFromToday = (days: number): string =>
  new Date(clock() + (8 * 3600 + days * 86_400) * 1000).toISOString().slice(0, 10);

/** Orders are counted each minute, but seldom where there are very many: then it is said how long ago that was. */
const OLD_MS = 180_000;

/** How it stands at this moment. */
export function NowStrip({ now, appId }: Pick<Overview, 'now'> & { readonly appId: string | undefined }) {
  const t = useTexts();
  const { ordersCountedAt } = now;
  const isOld = ordersCountedAt !== null && clock() - momentOf(ordersCountedAt).getTime() > OLD_MS;
  const counted = isOld ? (
    <>
      {t('countedAt')} <Time value={ordersCountedAt} as="ago" />
    </>
  ) : undefined;
  return (
    <section className={styles.strip} aria-label={t('now')}>
      <Tile
        name={t('activeOrders')}
        value={now.activeOrders}
        to={places.orders({ status: 'ACTIVE', appId })}
        more={counted}
      />
      <Tile
        name={t('renewalsToday')}
        value={now.renewalsDoneToday}
        to={places.orders({ appId, dueFrom: dayFromToday(0), dueTo: dayFromToday(1) })}
        more={t('stillDue', { due: countText(now.renewalsDueToday) })}
      />
      <Tile
        name={t('waitingForRetry')}
        value={now.waitingForRetry}
        to={places.failedPayments({ status: 'FAIL_RETRY', appId })}
        more={counted}
      />
      <Tile
        name={t('unsettled')}
        value={now.unsettledOrders}
        to={places.orders({ unsettled: 'true', appId })}
        more={
          now.oldestUnsettledAt ? (
            <>
              {t('oldest')} <Time value={now.oldestUnsettledAt} as="ago" />
            </>
          ) : (
            t('unsettledHint')
          )
        }
      />
      <Tile
        name={t('eventsWaiting')}
        value={now.eventsWaiting}
        to={places.events()}
        more={
          now.oldestEventAt ? (
            <>
              {t('oldest')} <Time value={now.oldestEventAt} as="ago" />
            </>
          ) : undefined
        }
      />
      <Tile name={t('eventsGivenUp')} value={now.eventsGivenUp} to={places.events()} isBad />
    </section>
  );
}
