import { Box, Group, SimpleGrid, Stack } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useMemo } from 'react';
import { places } from '../../address/places.ts';
import type { Overview, OverviewFigures } from '../../api/types.ts';
import { useLanguage } from '../../i18n/language.ts';
import { ChevronRightIcon } from '../../icons/icons.tsx';
import { Figure } from '../../parts/lists/list-parts.tsx';
import { Change, shareText } from '../../parts/values/change.tsx';
import type { ChartProps, ChartSeries } from '../../parts/values/chart.tsx';
import { ChartPart } from '../../parts/values/chart-part.tsx';
import { columnTexts } from '../../parts/values/column-texts.ts';
import { countText, moneyText, shortMoneyText } from '../../parts/values/money.tsx';
import { PlaceLink, placeAddress } from '../../parts/values/place-link.tsx';
import styles from './overview.module.css';
import { useTexts } from './texts.ts';

const Chart = lazy(() =>
  import('../../parts/values/chart.tsx').then(({ Chart: component }) => ({ default: component })),
);

interface CardProps {
  readonly title: string;
  /** The URL of the list that the number counts. */
  readonly to: string;
  readonly value: string;
  readonly change: ReactNode;
  readonly aside?: ReactNode;
  readonly isWide?: boolean;
  readonly chart: Omit<ChartProps, 'title'>;
  readonly children?: ReactNode;
}

function Card({ title, to, value, change, aside, isWide, chart, children }: CardProps) {
  return (
    <Stack
      component="section"
      gap={10}
      miw={0}
      p="14px 16px"
      bd="1px solid var(--line)"
      bdrs={10}
      {...(isWide ? { style: { gridColumn: '1 / -1' } } : {})}
    >
      <Group component="header" gap="6px 24px" align="flex-end" justify="space-between">
        <div>
          <Box component="h2" fz="sm" fw={500} lts={0}>
            <PlaceLink to={to} className={styles.title}>
              {title}
              <ChevronRightIcon size={13} />
            </PlaceLink>
          </Box>
          <Group component="p" gap="0 8px" align="baseline">
            <Figure size="1.375rem">{value}</Figure>
            {change}
          </Group>
        </div>
        {aside ? (
          <Group component="dl" gap="4px 24px" align="stretch">
            {aside}
          </Group>
        ) : null}
      </Group>
      <Box mih={chart.height}>
        {/* The chart library loads after the figures, which show the same data. */}
        <Suspense>
          <Chart {...chart} title={title} />
        </Suspense>
      </Box>
      {children}
    </Stack>
  );
}

type Name = keyof OverviewFigures;

/** Returns the share of successes, or NaN if there is nothing to count. */
const rate = (good: number, bad: number): number => (good + bad === 0 ? Number.NaN : good / (good + bad));

export function FigureCards({ overview }: { readonly overview: Overview }) {
  const t = useTexts();
  const language = useLanguage();
  const navigate = useNavigate();
  const { totals, before, series, range, from, to } = overview;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the texts are those of the language
  const { labels, ticks } = useMemo(() => columnTexts(series, range), [series, range, language]);
  const plots = usePlots(series, t, language);
  const starts = [...series.map(({ at }) => at), to];
  const pick = (place: (from: string, to: string) => string) => (column: number) =>
    void navigate(placeAddress(place(starts[column] ?? from, starts[column + 1] ?? to)));
  const moneyChart = { labels, ticks, valueText: moneyText, tickText: shortMoneyText, step: 100, height: 200 };
  const countChart = { labels, ticks, valueText: countText, tickText: countText, step: 1, height: 132 };
  const total = (figures: OverviewFigures) => figures.paidCent + figures.billedCent;
  /** Returns a card with a success rate. */
  const rateCard = (
    what: 'debits' | 'renewals' | 'pushes',
    [good, bad]: readonly [Name, Name],
    place: string,
    onPick?: ChartProps['onPick'],
  ) => {
    const share = rate(totals[good], totals[bad]);
    return (
      <Card
        title={t(what)}
        to={place}
        value={Number.isNaN(share) ? '–' : shareText(share)}
        change={<Change value={share} before={rate(before[good], before[bad])} isShare />}
        chart={{ ...countChart, series: plots[what], onPick }}
      >
        <Group component="dl" gap="2px 18px">
          {plots[what].map(({ name, color }, at) => (
            <ChartPart key={color} isSmall name={name} value={countText(totals[at === 0 ? good : bad])} color={color} />
          ))}
        </Group>
      </Card>
    );
  };
  const failed = places.failedPayments({ from, to });
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing={16}>
      <Card
        isWide
        title={t('volume')}
        to={places.settlement(to.slice(0, 7))}
        value={moneyText(total(totals))}
        change={<Change value={total(totals)} before={total(before)} than={t(`than${range}`)} />}
        aside={
          <>
            <ChartPart name={t('collected')} value={moneyText(totals.paidCent)} color="--chart-1" />
            <ChartPart name={t('billed')} value={moneyText(totals.billedCent)} color="--chart-3" />
            <ChartPart
              name={t('refunded')}
              color="--chart-2"
              value={totals.refundedCent === 0 ? moneyText(0) : `−${moneyText(totals.refundedCent)}`}
              more={<Change value={totals.refundedCent} before={before.refundedCent} more="bad" />}
            />
          </>
        }
        chart={{ ...moneyChart, series: plots.volume }}
      />
      {rateCard(
        'debits',
        ['debitsPaid', 'debitsFailed'],
        failed,
        pick((first, end) => places.failedPayments({ from: first, to: end })),
      )}
      <Card
        title={t('ordersCreated')}
        to={places.orders({ createdFrom: from, createdTo: to })}
        value={countText(totals.ordersCreated)}
        change={<Change value={totals.ordersCreated} before={before.ordersCreated} />}
        chart={{
          ...countChart,
          series: plots.orders,
          onPick: pick((createdFrom, createdTo) => places.orders({ createdFrom, createdTo })),
        }}
      >
        <Group component="dl" gap="2px 18px">
          <ChartPart isSmall name={t('created')} value={countText(totals.ordersCreated)} color="--chart-1" />
          <ChartPart isSmall name={t('ended')} value={countText(totals.ordersEnded)} color="--chart-2" />
        </Group>
      </Card>
      {rateCard('renewals', ['renewalsDone', 'renewalsFailed'], failed)}
      {rateCard('pushes', ['pushesAccepted', 'pushesFailed'], places.events())}
    </SimpleGrid>
  );
}

function usePlots(series: Overview['series'], t: ReturnType<typeof useTexts>, language: string) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: `t` is that of the language
  return useMemo(() => {
    const plot = (name: string, field: Name, color: ChartSeries['color']): ChartSeries => ({
      name,
      color,
      values: series.map((figures) => figures[field]),
    });
    const plotLine = (...one: Parameters<typeof plot>): ChartSeries => ({ ...plot(...one), isLine: true });
    return {
      volume: [
        plot(t('collected'), 'paidCent', '--chart-1'),
        plot(t('billed'), 'billedCent', '--chart-3'),
        plotLine(t('refunded'), 'refundedCent', '--chart-2'),
      ],
      debits: [plot(t('paid'), 'debitsPaid', '--chart-1'), plot(t('failed'), 'debitsFailed', '--chart-2')],
      renewals: [plot(t('paid'), 'renewalsDone', '--chart-1'), plot(t('failed'), 'renewalsFailed', '--chart-2')],
      pushes: [plot(t('accepted'), 'pushesAccepted', '--chart-1'), plot(t('refused'), 'pushesFailed', '--chart-2')],
      orders: [plot(t('created'), 'ordersCreated', '--chart-1'), plotLine(t('ended'), 'ordersEnded', '--chart-2')],
    };
  }, [series, language]);
}
