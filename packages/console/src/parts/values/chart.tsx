import 'uplot/dist/uPlot.min.css';
import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import { dictionary } from '../../i18n/dictionary.ts';
import styles from './chart.module.css';

const useTexts = dictionary({
  nothing: ['No data in this range', '所选范围内没有数据'],
});

export interface ChartSeries {
  readonly name: string;
  readonly values: readonly number[];
  /** A colour of global.css. */
  readonly color: '--chart-1' | '--chart-2' | '--chart-3';
  /** Set if the series is a line over the columns, because it is no part of their sum. */
  readonly isLine?: boolean;
}

export interface ChartProps {
  readonly title: string;
  /** One label per column. */
  readonly labels: readonly string[];
  /** Short labels for the axis. */
  readonly ticks: readonly string[];
  /** The series, from the bottom up. */
  readonly series: readonly ChartSeries[];
  readonly height: number;
  valueText(value: number): string;
  tickText(value: number): string;
  /** The distance between grid lines is this or a multiple of it. */
  readonly step: number;
  /** Called on a click on a column. */
  onPick?: ((column: number) => void) | undefined;
}

/** A chart of stacked columns and lines by hour, day or month. Screen readers get the same data as a table. */
export function Chart(props: ChartProps) {
  const { title, labels, series, height, valueText, onPick } = props;
  const t = useTexts();
  const place = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<{ readonly column: number; readonly left: number; readonly width: number }>();
  const scheme = useComputedColorScheme();
  const latest = useRef(props);
  latest.current = props;
  const data = useMemo(() => stack(series), [series]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another scheme has other colours, another language other labels
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const width = element.clientWidth;
    const chart = new uPlot(
      optionsOf(latest, { width, height }, (column, left) =>
        setAt(column === undefined ? undefined : { column, left, width: element.clientWidth }),
      ),
      data,
      element,
    );
    const pick = () => {
      const { idx } = chart.cursor;
      if (typeof idx === 'number') latest.current.onPick?.(idx);
    };
    chart.over.addEventListener('click', pick);
    const watcher = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      chart.destroy();
      setAt(undefined);
    };
  }, [data, height, scheme, labels]);

  return (
    <div className={styles.chart} data-picks={onPick !== undefined || undefined}>
      <div ref={place} aria-hidden="true" />
      {isEmpty(series) ? <p className={styles.nothing}>{t('nothing')}</p> : null}
      {at ? (
        <div
          className={styles.tip}
          data-side={at.left > at.width / 2 ? 'left' : 'right'}
          style={{ left: at.left }}
          aria-hidden="true"
        >
          <p>{labels[at.column]}</p>
          {series.toReversed().map(({ name, values, color }) => (
            <p key={name} className={styles.value}>
              <span className={styles.dot} style={{ background: `var(${color})` }} />
              {name}
              <span className="figures">{valueText(values[at.column] ?? 0)}</span>
            </p>
          ))}
        </div>
      ) : null}
      <div className="only-read">
        <table>
          <caption>{title}</caption>
          <thead>
            <tr>
              <td />
              {series.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {labels.map((label, column) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                {series.map(({ name, values }) => (
                  <td key={name}>{valueText(values[column] ?? 0)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

const isEmpty = (series: readonly ChartSeries[]): boolean =>
  series.every(({ values }) => values.every((value) => value === 0));

/** Returns the series in the order in which they are drawn: the highest column first, then the lines over all columns. */
const inDrawingOrder = (series: readonly ChartSeries[]): readonly ChartSeries[] => [
  ...series.filter(({ isLine }) => !isLine).toReversed(),
  ...series.filter(({ isLine }) => isLine),
];

/** Adds to each series of columns all columns below it. Lines keep their values. */
function stack(series: readonly ChartSeries[]): uPlot.AlignedData {
  const count = series[0]?.values.length ?? 0;
  const columns = series.filter(({ isLine }) => !isLine);
  const valuesOf = (one: ChartSeries) =>
    one.isLine
      ? [...one.values]
      : Array.from({ length: count }, (_, column) =>
          columns.slice(0, columns.indexOf(one) + 1).reduce((sum, { values }) => sum + (values[column] ?? 0), 0),
        );
  return [Array.from({ length: count }, (_, column) => column), ...inDrawingOrder(series).map(valuesOf)];
}

function optionsOf(
  latest: { readonly current: ChartProps },
  { width, height }: { readonly width: number; readonly height: number },
  onMove: (column: number | undefined, left: number) => void,
): uPlot.Options {
  const look = getComputedStyle(document.documentElement);
  const colorOf = (name: string) => look.getPropertyValue(name).trim();
  const font = `11px ${getComputedStyle(document.body).fontFamily}`;
  const { series, ticks, step } = latest.current;
  const count = ticks.length;
  const hasNothing = isEmpty(series);
  const bars = uPlot.paths.bars?.({ size: [0.72, 28], radius: 0.12 });
  return {
    width,
    height,
    legend: { show: false },
    padding: [8, 0, 0, 0],
    scales: {
      x: { time: false, range: [-0.6, count - 0.4] },
      y: { range: (_chart, _low, high) => [0, high > 0 ? high * 1.08 : step] },
    },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false }, x: true },
    axes: [
      {
        stroke: colorOf('--quiet'),
        font,
        size: 24,
        gap: 6,
        grid: { show: false },
        ticks: { show: false },
        splits: () => splitsOf(count, Math.max(2, Math.floor(width / 76))),
        values: (_chart, at) => at.map((column) => latest.current.ticks[column] ?? ''),
      },
      {
        stroke: colorOf('--quiet'),
        font,
        side: 1,
        size: 48,
        gap: 8,
        space: 38,
        incrs: ROUND.map((round) => round * step),
        grid: { stroke: colorOf('--line'), width: 1 },
        ticks: { show: false },
        values: (_chart, at) => at.map((value) => (value === 0 || hasNothing ? '' : latest.current.tickText(value))),
      },
    ],
    series: [
      {},
      ...inDrawingOrder(series).map(({ name, color, isLine }) =>
        isLine
          ? { label: name, stroke: colorOf(color), width: 2, points: { show: false } }
          : { label: name, fill: colorOf(color), width: 0, points: { show: false }, ...(bars ? { paths: bars } : {}) },
      ),
    ],
    hooks: {
      setCursor: [
        (chart) => {
          const { idx, left = -1 } = chart.cursor;
          onMove(typeof idx === 'number' && left >= 0 ? idx : undefined, left);
        },
      ],
    },
  };
}

/** The possible distances between grid lines: 1, 2, 5, 10, 20, 50 … */
const ROUND = Array.from({ length: 33 }, (_, n) => [1, 2, 5][n % 3] as number).map(
  (digit, n) => digit * 10 ** Math.floor(n / 3),
);

/** Returns the columns that get a label: as many as fit, and always the last one. */
function splitsOf(count: number, room: number): number[] {
  const step = Math.max(1, Math.ceil(count / room));
  return Array.from({ length: Math.ceil(count / step) }, (_, n) => count - 1 - n * step).toReversed();
}
