import { Group } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useMemo } from 'react';
import { places } from '../../address/places.ts';
import type { Overview, OverviewFigures } from '../../api/types.ts';
import { useLanguage } from '../../i18n/language.ts';
import { ChevronRightIcon } from '../../icons/icons.tsx';
import { Change, shareText } from '../../parts/change.tsx';
import type { ChartSeries } from '../../parts/chart.tsx';
import { countText, moneyText, shortMoneyText } from '../../parts/money.tsx';
import { PlaceLink, placeAddress } from '../../parts/place-link.tsx';
import { columnTexts } from './column-texts.ts';
import styles from './overview.module.css';
import { useTexts } from './texts.ts';

const Chart = lazy(() => import('../../parts/chart.tsx').then(({ Chart: component }) => ({ default: component })));

interface CardProps {
  readonly title: string;
  /** The rows behind the number. */
  readonly to: string;
  readonly value: string;
  readonly change: ReactNode;
  readonly aside?: ReactNode;
  readonly isWide?: boolean;
  readonly children: ReactNode;
}

function Card({ title, to, value, change, aside, isWide, children }: CardProps) {
  return (
    <section className={styles.card} data-wide={isWide || undefined}>
      <Group component="header" gap="6px 24px" align="flex-end" justify="space-between">
        <div>
          <h2 className={styles.cardTitle}>
            <PlaceLink to={to} className={styles.cardLink}>
              {title}
              <ChevronRightIcon size={13} />
            </PlaceLink>
          </h2>
          <Group component="p" gap="0 8px" align="baseline">
            <span className={`figures ${styles.cardValue}`}>{value}</span>
            {change}
          </Group>
        </div>
        {aside}
      </Group>
      {children}
    </section>
  );
}

/** The share that succeeded; nothing when nothing was tried. */
const rate = (good: number, bad: number): number => (good + bad === 0 ? Number.NaN : good / (good + bad));

const rateText = (share: number): string => (Number.isNaN(share) ? '–' : shareText(share));

export function FigureCards({ overview }: { readonly overview: Overview }) {
  const t = useTexts();
  const language = useLanguage();
  const navigate = useNavigate();
  const { totals, before, series, range, from, to } = overview;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the texts are those of the language
  const { labels, ticks } = useMemo(() => columnTexts(series, range), [series, range, language]);
  const plots = usePlots(series, t, language);
  const starts = [...series.map(({ at }) => at), to];
  const pick = (column: number, place: (slot: { from: string; to: string }) => string) =>
    void navigate(placeAddress(place({ from: starts[column] ?? from, to: starts[column + 1] ?? to })));

  const moneyChart = { labels, ticks, valueText: moneyText, tickText: shortMoneyText, step: 100 };
  const countChart = { labels, ticks, valueText: countText, tickText: countText, step: 1, height: 132 };
  const total = (figures: OverviewFigures) => figures.paidCent + figures.billedCent;
  return (
    <div className={styles.cards}>
      <Card
        isWide
        title={t('volume')}
        to={places.settlement(to.slice(0, 7))}
        value={moneyText(total(totals))}
        change={<Change value={total(totals)} before={total(before)} than={t(`than${range}`)} />}
        aside={
          <Group component="dl" gap="4px 24px" align="stretch">
            <Part name={t('collected')} value={moneyText(totals.paidCent)} color="--chart-1" />
            <Part name={t('billed')} value={moneyText(totals.billedCent)} color="--chart-3" />
            <Part
              name={t('refunded')}
              value={totals.refundedCent === 0 ? moneyText(0) : `−${moneyText(totals.refundedCent)}`}
              more={<Change value={totals.refundedCent} before={before.refundedCent} more="bad" />}
            />
          </Group>
        }
      >
        <Plot>
          <Chart {...moneyChart} title={t('volume')} series={plots.volume} height={200} />
        </Plot>
      </Card>
      <Card
        title={t('debits')}
        to={places.failedPayments({ from, to })}
        value={rateText(rate(totals.debitsPaid, totals.debitsFailed))}
        change={
          <Change
            value={rate(totals.debitsPaid, totals.debitsFailed)}
            before={rate(before.debitsPaid, before.debitsFailed)}
            isShare
          />
        }
      >
        <Plot>
          <Chart
            {...countChart}
            title={t('debits')}
            series={plots.debits}
            onPick={(column) => pick(column, (slot) => places.failedPayments(slot))}
          />
        </Plot>
        <Legend series={plots.debits} totals={[totals.debitsPaid, totals.debitsFailed]} />
      </Card>
      <Card
        title={t('ordersCreated')}
        to={places.orders({ createdFrom: from, createdTo: to })}
        value={countText(totals.ordersCreated)}
        change={<Change value={totals.ordersCreated} before={before.ordersCreated} />}
        aside={
          <Group component="dl" gap="4px 24px" align="stretch">
            <Part name={t('ended')} value={countText(totals.ordersEnded)} />
          </Group>
        }
      >
        <Plot>
          <Chart
            {...countChart}
            title={t('ordersCreated')}
            series={plots.orders}
            onPick={(column) => pick(column, (slot) => places.orders({ createdFrom: slot.from, createdTo: slot.to }))}
          />
        </Plot>
      </Card>
      <Card
        title={t('renewals')}
        to={places.failedPayments({ from, to })}
        value={rateText(rate(totals.renewalsDone, totals.renewalsFailed))}
        change={
          <Change
            value={rate(totals.renewalsDone, totals.renewalsFailed)}
            before={rate(before.renewalsDone, before.renewalsFailed)}
            isShare
          />
        }
      >
        <Plot>
          <Chart {...countChart} title={t('renewals')} series={plots.renewals} />
        </Plot>
        <Legend series={plots.renewals} totals={[totals.renewalsDone, totals.renewalsFailed]} />
      </Card>
      <Card
        title={t('pushes')}
        to={places.events()}
        value={rateText(rate(totals.pushesAccepted, totals.pushesFailed))}
        change={
          <Change
            value={rate(totals.pushesAccepted, totals.pushesFailed)}
            before={rate(before.pushesAccepted, before.pushesFailed)}
            isShare
          />
        }
      >
        <Plot>
          <Chart {...countChart} title={t('pushes')} series={plots.pushes} />
        </Plot>
        <Legend series={plots.pushes} totals={[totals.pushesAccepted, totals.pushesFailed]} />
      </Card>
    </div>
  );
}

/** The charts' library comes after the figures, which say the same. */
function Plot({ children }: { readonly children: ReactNode }) {
  return (
    <div className={styles.plot}>
      <Suspense>{children}</Suspense>
    </div>
  );
}

function usePlots(series: Overview['series'], t: ReturnType<typeof useTexts>, language: string) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: `t` is that of the language
  return useMemo(() => {
    const of = (name: keyof OverviewFigures) => series.map((figures) => figures[name]);
    const pair = (good: keyof OverviewFigures, bad: keyof OverviewFigures, names: readonly [string, string]) =>
      [
        { name: names[0], values: of(good), color: '--chart-1' },
        { name: names[1], values: of(bad), color: '--chart-2' },
      ] as const satisfies readonly ChartSeries[];
    return {
      volume: [
        { name: t('collected'), values: of('paidCent'), color: '--chart-1' },
        { name: t('billed'), values: of('billedCent'), color: '--chart-3' },
      ] as const satisfies readonly ChartSeries[],
      debits: pair('debitsPaid', 'debitsFailed', [t('paid'), t('failed')]),
      renewals: pair('renewalsDone', 'renewalsFailed', [t('paid'), t('failed')]),
      pushes: pair('pushesAccepted', 'pushesFailed', [t('accepted'), t('refused')]),
      orders: [
        { name: t('created'), values: of('ordersCreated'), color: '--chart-1' },
      ] as const satisfies readonly ChartSeries[],
    };
  }, [series, language]);
}

interface PartProps {
  readonly name: string;
  readonly value: string;
  readonly color?: ChartSeries['color'];
  readonly more?: ReactNode;
}

function Part({ name, value, color, more }: PartProps) {
  return (
    <div className={styles.part}>
      <dt>
        {color ? <span className={styles.dot} style={{ background: `var(${color})` }} /> : null}
        {name}
      </dt>
      <dd className="figures">
        {value} {more}
      </dd>
    </div>
  );
}

interface LegendProps {
  readonly series: readonly ChartSeries[];
  readonly totals: readonly number[];
}

/** What each colour of a chart stands for, and what it comes to. */
function Legend({ series, totals }: LegendProps) {
  return (
    <dl className={styles.legend}>
      {series.map(({ name, color }, place) => (
        <Part key={color} name={name} value={countText(totals[place] ?? 0)} color={color} />
      ))}
    </dl>
  );
}
