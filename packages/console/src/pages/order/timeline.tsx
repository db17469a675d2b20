import { Button, Group } from '@mantine/core';
import { useState } from 'react';
import type { FilterControl } from '../../address/filters.ts';
import type { TimelineEntry } from '../../api/order-types.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import type { Said } from '../../i18n/said.ts';
import { useSaidText } from '../../i18n/use-said-text.ts';
import { ChevronRightIcon, CloseIcon, RequestIcon } from '../../icons/icons.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { Money } from '../../parts/money.tsx';
import { Section } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import {
  hourText,
  isElsewhere,
  momentOf,
  offsetText,
  shortDayText,
  timeText,
  VIEWERS_ZONE,
} from '../../parts/time-text.ts';
import { Toggles } from '../../parts/toggles.tsx';
import type { ORDER_FILTERS } from './filters.ts';
import { type FoldedEntry, foldPushes } from './fold-pushes.ts';
import styles from './timeline.module.css';
import {
  fieldOf,
  GROUPS,
  groupOf,
  STATUS_OF,
  type TimelineGroup,
  toneOf,
  useEntryTitle,
  useGroupTexts,
  useOutcomeText,
} from './timeline-words.ts';

const useTexts = dictionary({
  title: ['Timeline', '时间线'],
  hint: ['Times are of Beijing.', '时间均为北京时间。'],
  here: ['Here, {offset}', '本地 {offset}'],
  show: ['What is shown', '显示内容'],
  onlyPeriod: ['Period {cycleNo} only', '仅第 {cycleNo} 期'],
  next: ['What comes next', '接下来'],
  past: ['What has happened', '已发生'],
  empty: ['Nothing of this kind', '没有此类记录'],
  cut: ['Older entries of this order are left out here.', '更早的记录未显示。'],
  json: ['JSON', 'JSON'],
  jsonOf: ['JSON of: {title}', 'JSON 原始记录：{title}'],
  http: ['HTTP {status}', 'HTTP {status}'],
  latency: ['{ms} ms', '{ms} 毫秒'],
  retryNo: ['retry {retryNo}', '第 {retryNo} 次重试'],
  by: ['by {actor}', '操作人 {actor}'],
  ref: ['reference {ref}', '流水号 {ref}'],
  pushes: ['{count} push: {last}|{count} pushes, the last one: {last}', '推送 {count} 次，最近一次：{last}'],
  eventId: ['event {eventId}', '事件 {eventId}'],
  pushesOf: ['Pushes of: {title}', '推送记录：{title}'],
});

/** So many at first: an order of some years has hundreds. */
const SHOWN_AT_FIRST = 60;

interface TimelineProps {
  readonly timeline: readonly TimelineEntry[];
  readonly isCut: boolean;
  readonly filters: FilterControl<(typeof ORDER_FILTERS)[number]>;
}

/** Everything that happened to an order and what is to come, the latest first; what is to come stands on top. */
export function Timeline({ timeline, isCut, filters }: TimelineProps) {
  const t = useTexts();
  const common = useCommonTexts();
  const groupText = useGroupTexts();
  const [shown, setShown] = useState(SHOWN_AT_FIRST);
  const { show, period } = filters.values;
  const groups = show?.split(',') ?? [];
  // A note stands there itself; that it was written is for the audit log.
  const told = foldPushes(timeline).filter(({ kind, title }) => kind !== 'operator' || title !== 'order.note');
  const ofPeriod = told.filter(({ cycleNo, event }) => !period || String(cycleNo ?? event?.cycleNo) === period);
  const counts = new Map<TimelineGroup, number>();
  for (const { kind } of ofPeriod) counts.set(groupOf(kind), (counts.get(groupOf(kind)) ?? 0) + 1);
  const wanted = ofPeriod.filter(({ kind }) => groups.length === 0 || groups.includes(groupOf(kind)));
  const future = wanted.filter(({ when }) => when === 'future');
  const past = wanted.filter(({ when }) => when === 'past');
  const newest = momentOf(timeline[0]?.at ?? '2026-01-01');
  const isHere = !isElsewhere(newest);
  return (
    <Section title={t('title')} hint={isHere ? t('hint') : undefined}>
      <Toggles
        label={t('show')}
        choices={(Object.keys(GROUPS) as TimelineGroup[])
          .filter((group) => counts.has(group) || groups.includes(group))
          .map((group) => ({ value: group, label: groupText(group), count: counts.get(group) ?? 0 }))}
        selected={groups}
        onChange={(selected) => filters.set({ show: selected.join() })}
      >
        {period ? (
          <Button
            variant="light"
            size="compact-sm"
            radius="xl"
            rightSection={<CloseIcon size={12} />}
            onClick={() => filters.set({ period: undefined })}
          >
            {t('onlyPeriod', { cycleNo: period })}
          </Button>
        ) : null}
      </Toggles>
      {isHere || wanted.length === 0 ? null : (
        <div className={styles.zones} aria-hidden="true">
          <span>{common('beijing')}</span>
          <span>{t('here', { offset: offsetText(newest, VIEWERS_ZONE) })}</span>
        </div>
      )}
      {wanted.length === 0 ? <Empty isFiltered title={t('empty')} /> : null}
      {future.length > 0 ? (
        <ol aria-label={t('next')} data-when="future">
          {keyed(future).map(([key, entry]) => (
            <Entry key={key} entry={entry} />
          ))}
        </ol>
      ) : null}
      {past.length > 0 ? (
        <ol aria-label={t('past')}>
          {keyed(past.slice(0, shown)).map(([key, entry]) => (
            <Entry key={key} entry={entry} />
          ))}
        </ol>
      ) : null}
      {past.length > shown ? (
        <Group gap={0} justify="center">
          <Button variant="default" onClick={() => setShown(shown + 200)}>
            {common('more')}
          </Button>
        </Group>
      ) : isCut ? (
        <p className="quiet">{t('cut')}</p>
      ) : null}
    </Section>
  );
}

/** Entries have no number of their own; the same words at the same second are told apart by their place from the oldest. */
function keyed<T extends TimelineEntry>(entries: readonly T[]): (readonly [key: string, entry: T])[] {
  const seen = new Map<string, number>();
  return entries
    .toReversed()
    .map((entry) => {
      const name = `${entry.at} ${entry.kind} ${entry.title}`;
      const count = seen.get(name) ?? 0;
      seen.set(name, count + 1);
      return [`${name} ${count}`, entry] as const;
    })
    .toReversed();
}

function Entry({ entry }: { readonly entry: FoldedEntry }) {
  const t = useTexts();
  const titleOf = useEntryTitle();
  const [isOpen, setOpen] = useState(false);
  const { at, kind, status, detail, actor, amountCent, data } = entry;
  const title = titleOf(entry);
  const statusKind = STATUS_OF[kind];
  const about = useAbout(entry);
  const saidText = useSaidText();
  const moment = momentOf(at);
  return (
    <li className={styles.entry} data-kind={kind} data-tone={toneOf(entry)}>
      <span className={styles.dot} aria-hidden="true" />
      <div className={styles.content}>
        <div className={styles.line}>
          <span className={styles.title}>{title}</span>
          {statusKind && status ? <Status of={statusKind} value={status} /> : null}
          {amountCent !== null && kind !== 'benefit' ? (
            <span className={styles.amount}>
              <Money cents={amountCent} />
            </span>
          ) : null}
          {data === null || data === undefined ? null : (
            <button
              type="button"
              className={styles.raw}
              aria-expanded={isOpen}
              aria-label={t('jsonOf', { title })}
              onClick={() => setOpen(!isOpen)}
            >
              <RequestIcon size={13} /> {t('json')}
            </button>
          )}
        </div>
        {detail && kind !== 'claim' ? (
          <p className={kind === 'note' ? styles.note : styles.detail}>{saidText(detail, saidOf(entry))}</p>
        ) : null}
        {actor || about.length > 0 ? (
          <Group className="quiet tiny" gap="0 12px" mt={2}>
            {actor ? <span>{t('by', { actor })}</span> : null}
            {about.map((words) => (
              <span key={words} className="figures">
                {words}
              </span>
            ))}
            {entry.pushes.length > 0 ? <Pushes pushes={entry.pushes} of={title} /> : null}
          </Group>
        ) : null}
        {isOpen ? <JsonView value={data} /> : null}
      </div>
      <div className={styles.time}>
        <Time value={at} />
        {isElsewhere(moment) ? <span className={`figures ${styles.here}`}>{hereText(moment)}</span> : null}
      </div>
    </li>
  );
}

/** Of an alert, which sentence its detail is. */
const saidOf = ({ kind, data }: TimelineEntry): Said | null =>
  kind === 'alert' ? ((data as { readonly detailSaid?: Said | null } | null)?.detailSaid ?? null) : null;

/** How often the channel was told, and what it answered last; each push with its answer on asking for it. */
function Pushes({ pushes, of }: { readonly pushes: readonly TimelineEntry[]; readonly of: string }) {
  const t = useTexts();
  const outcomeText = useOutcomeText();
  const pushText = usePushText();
  const [isOpen, setOpen] = useState(false);
  const [last] = pushes;
  if (!last) return null;
  const summary = t('pushes', { count: pushes.length, last: [outcomeText(last), ...pushText(last)].join(', ') });
  return (
    <>
      <button
        type="button"
        className={styles.pushesButton}
        aria-expanded={isOpen}
        data-tone={toneOf(last)}
        onClick={() => setOpen(!isOpen)}
      >
        <ChevronRightIcon size={12} />
        {summary}
      </button>
      {isOpen ? (
        <ol className={styles.pushes} aria-label={t('pushesOf', { title: of })}>
          {keyed(pushes).map(([key, push]) => (
            <li key={key} className={styles.push} data-tone={toneOf(push)}>
              <span className={styles.pushLine}>
                <span>{outcomeText(push)}</span>
                <span className="quiet figures">{pushText(push).join(' · ')}</span>
                <Time value={push.at} />
              </span>
              {push.detail ? <code className={styles.answer}>{push.detail}</code> : null}
            </li>
          ))}
        </ol>
      ) : null}
    </>
  );
}

/** What the channel answered, how fast, and for the how manieth time it was asked. */
function usePushText(): (push: TimelineEntry) => string[] {
  const t = useTexts();
  return ({ data }) => {
    const field = (name: string) => fieldOf(data, name);
    const words = (given: string | number | undefined, say: (value: string | number) => string) =>
      given === undefined || given === '' || given === 0 ? [] : [say(given)];
    return [
      ...words(field('httpStatus'), (status) => t('http', { status })),
      ...words(field('latencyMs'), (ms) => t('latency', { ms })),
      ...words(field('retryNo'), (retryNo) => t('retryNo', { retryNo })),
    ];
  };
}

/** The viewer's clock: with its day only where that is another. */
const hereText = (moment: Date): string =>
  shortDayText(moment) === shortDayText(moment, VIEWERS_ZONE)
    ? hourText(moment, VIEWERS_ZONE)
    : timeText(moment, VIEWERS_ZONE);

/** Small facts below an entry: the institution and its reference, or by what it is known. */
function useAbout(entry: TimelineEntry): readonly string[] {
  const t = useTexts();
  const pushText = usePushText();
  const { kind, data, when } = entry;
  const field = (name: string) => {
    const value = fieldOf(data, name);
    return value === undefined || value === '' ? [] : [String(value)];
  };
  if (kind === 'attempt')
    return [...field('paymentChannelCode'), ...field('institutionRef').map((ref) => t('ref', { ref }))];
  if (kind === 'push' && when === 'past') return pushText(entry);
  if (kind === 'event') return field('eventId').map((eventId) => t('eventId', { eventId }));
  if (kind === 'refund') return field('refundNo');
  if (kind === 'claim') return field('claimNo');
  return [];
}
