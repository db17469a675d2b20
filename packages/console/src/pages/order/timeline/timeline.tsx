import { Box, Button, Group, UnstyledButton } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { FilterControl } from '../../../address/filters.ts';
import type { TimelineEntry } from '../../../api/order-types.ts';
import { useCommonTexts } from '../../../i18n/common.ts';
import { dictionary } from '../../../i18n/dictionary.ts';
import { joinParts } from '../../../i18n/language.ts';
import type { Said } from '../../../i18n/said.ts';
import { ChevronDownIcon, ChevronRightIcon, CloseIcon, RequestIcon } from '../../../icons/icons.tsx';
import { Toggles } from '../../../parts/fields/toggles.tsx';
import { Section } from '../../../parts/page.tsx';
import { Empty } from '../../../parts/states.tsx';
import { JsonView } from '../../../parts/values/json-view.tsx';
import { Money } from '../../../parts/values/money.tsx';
import { Status, type Tone } from '../../../parts/values/status.tsx';
import { Time } from '../../../parts/values/time.tsx';
import {
  BEIJING,
  hourText,
  isElsewhere,
  momentOf,
  offsetText,
  shortDayText,
  timeText,
  VIEWERS_ZONE,
} from '../../../parts/values/time-text.ts';
import { useSaidText } from '../../../parts/values/use-said-text.ts';
import { PushLine } from '../../events/pushes.tsx';
import type { ORDER_FILTERS } from './filters.ts';
import { type FoldedEntry, foldPlannedPushes, foldPushes } from './fold-pushes.ts';
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
  hint: ['Times are in Beijing time.', '时间均为北京时间。'],
  here: ['Local, {offset}', '本地 {offset}'],
  show: ['Show', '显示内容'],
  onlyPeriod: ['Period {cycleNo} only', '仅第 {cycleNo} 期'],
  next: ['Next', '接下来'],
  past: ['History', '已发生'],
  empty: ['No entries of this kind', '没有此类记录'],
  cut: ['Older entries are not shown.', '更早的记录未显示。'],
  jsonOf: ['JSON of: {title}', 'JSON 原始记录：{title}'],
  latency: ['{ms} ms', '{ms} 毫秒'],
  retryNo: ['retry {retryNo}', '第 {retryNo} 次重试'],
  by: ['by {actor}', '操作人 {actor}'],
  ref: ['reference {ref}', '流水号 {ref}'],
  pushes: ['{count} push: {last}|{count} pushes, the last: {last}', '推送 {count} 次，最近一次：{last}'],
  eventId: ['event {eventId}', '事件 {eventId}'],
  earlier: ['Pushes of earlier events', '更早事件的推送记录'],
  pushesOf: ['Pushes of: {title}', '推送记录：{title}'],
  later: ['and {count} more until {time}', '另有 {count} 次，最晚 {time}'],
  laterOf: ['Later pushes', '之后的推送'],
});

/** The number of entries shown at first. An order of some years has hundreds. */
const SHOWN_AT_FIRST = 60;

interface TimelineProps {
  readonly timeline: readonly TimelineEntry[];
  readonly isCut: boolean;
  readonly filters: FilterControl<(typeof ORDER_FILTERS)[number]>;
}

/** Shows an order's history, latest first, and above it the planned steps. */
export function Timeline({ timeline, isCut, filters }: TimelineProps) {
  const t = useTexts();
  const common = useCommonTexts();
  const groupText = useGroupTexts();
  const [shown, setShown] = useState(SHOWN_AT_FIRST);
  const { show, period } = filters.values;
  const groups = show?.split(',') ?? [];
  // Omits the audit entry for writing a note, because the note itself is an entry.
  const told = foldPushes(timeline).filter(({ kind, title }) => kind !== 'operator' || title !== 'order.note');
  const ofPeriod = told.filter(({ cycleNo, event }) => !period || String(cycleNo ?? event?.cycleNo) === period);
  const counts = new Map<TimelineGroup, number>();
  for (const { kind } of ofPeriod) counts.set(groupOf(kind), (counts.get(groupOf(kind)) ?? 0) + 1);
  const wanted = ofPeriod.filter(({ kind }) => groups.length === 0 || groups.includes(groupOf(kind)));
  const past = wanted.filter(({ when }) => when === 'past');
  const next = foldPlannedPushes(wanted.filter(({ when }) => when === 'future'));
  const lists = { next, past: past.slice(0, shown) };
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
      {wanted.length === 0 ? <Empty isFiltered title={t('empty')} /> : null}
      {isHere || wanted.length === 0 ? null : (
        <Group className="quiet tiny" gap={14} justify="flex-end" mb={-6} visibleFrom="sm" aria-hidden="true">
          <span>{common('beijing')}</span>
          <span>{t('here', { offset: offsetText(newest, VIEWERS_ZONE) })}</span>
        </Group>
      )}
      {(['next', 'past'] as const).map((when) =>
        lists[when].length > 0 ? (
          <ol key={when} aria-label={t(when)} data-when={when}>
            {keyed(lists[when]).map(([key, entry]) => (
              <Entry key={key} entry={entry} />
            ))}
          </ol>
        ) : null,
      )}
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

/**
 * Returns entries with keys, because they have no id. Equal entries of the same second are numbered from the oldest.
 */
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

const DOTS: Readonly<Record<Tone, string>> = {
  positive: 'var(--mantine-color-green-5)',
  negative: 'var(--chart-2)',
  waiting: 'var(--mantine-color-amber-5)',
  progress: 'var(--page)',
  neutral: 'var(--chart-3)',
};

const MEDIUM = { fontWeight: 500 };

/** Kinds that are shown less prominently. */
const QUIET = new Set(['push', 'event', 'benefit', 'claim']);

function Entry({ entry }: { readonly entry: FoldedEntry }) {
  const t = useTexts();
  const titleOf = useEntryTitle();
  const [isOpen, setOpen] = useState(false);
  const { at, kind, status, actor, amountCent, data } = entry;
  const title = titleOf(entry);
  const statusKind = STATUS_OF[kind];
  const about = useAbout(entry);
  const moment = momentOf(at);
  const tone = toneOf(entry);
  return (
    <li className={styles.entry}>
      <span
        className={styles.dot}
        style={{ background: DOTS[tone], ...(tone === 'progress' ? { border: '2px solid var(--focus)' } : {}) }}
      />
      <div className={styles.body}>
        <div className={styles.line}>
          <span className={styles.title} data-quiet={QUIET.has(kind) || undefined}>
            {title}
          </span>
          {statusKind && status ? <Status of={statusKind} value={status} /> : null}
          {amountCent !== null && kind !== 'benefit' ? (
            <span style={MEDIUM}>
              <Money cents={amountCent} />
            </span>
          ) : null}
          {data === null || data === undefined ? null : (
            // A plain button, because an entry has one and Mantine's takes long on a phone.
            <button
              type="button"
              className={styles.raw}
              aria-expanded={isOpen}
              aria-label={t('jsonOf', { title })}
              onClick={() => setOpen(!isOpen)}
            >
              <RequestIcon size={13} /> JSON
            </button>
          )}
        </div>
        <Detail entry={entry} />
        {actor || about.length > 0 || entry.pushes.length > 0 ? (
          <div className={`quiet tiny ${styles.about}`}>
            {actor ? <span>{t('by', { actor })}</span> : null}
            {about.map((words) => (
              <span key={words} className="figures">
                {words}
              </span>
            ))}
            {entry.pushes.length > 0 ? <Pushes pushes={entry.pushes} of={kind === 'push' ? undefined : title} /> : null}
          </div>
        ) : null}
        {entry.later && entry.later.length > 0 ? <LaterPushes pushes={entry.later} /> : null}
        {isOpen ? <JsonView value={data} /> : null}
      </div>
      <div className={styles.time}>
        <Time value={at} as="seconds" />
        {isElsewhere(moment) ? <span className="figures quiet">{hereText(moment)}</span> : null}
      </div>
    </li>
  );
}

/** Shows an entry's text: a note prominently, an institution's text less so. */
function Detail({ entry }: { readonly entry: FoldedEntry }) {
  const saidText = useSaidText();
  const { kind, detail, data } = entry;
  if (!detail || kind === 'claim') return null;
  // The code of the alert's sentence, by which the sentence is translated.
  const said = kind === 'alert' ? (data as { readonly detailSaid?: Said | null } | null)?.detailSaid : null;
  return (
    <p
      className={`small ${kind === 'note' ? styles.note : styles.detail}`}
      data-failed={toneOf(entry) === 'negative' || undefined}
    >
      {saidText(detail, said)}
    </p>
  );
}

/** Says how many pushes are planned after the next one; expands to all of them. */
function LaterPushes({ pushes }: { readonly pushes: readonly FoldedEntry[] }) {
  const t = useTexts();
  const titleOf = useEntryTitle();
  const [isOpen, setOpen] = useState(false);
  const time = timeText(momentOf(pushes[0]?.at ?? ''), BEIJING);
  return (
    <>
      <Unfold isOpen={isOpen} c="dimmed" onToggle={() => setOpen(!isOpen)}>
        {t('later', { count: pushes.length, time })}
      </Unfold>
      {isOpen ? (
        <Box component="ol" className="small" mt={6} aria-label={t('laterOf')}>
          {keyed(pushes).map(([key, push]) => (
            <Group key={key} component="li" gap="0 12px" justify="space-between" py={3}>
              <span>{titleOf(push)}</span>
              <Time value={push.at} as="seconds" />
            </Group>
          ))}
        </Box>
      ) : null}
    </>
  );
}

interface UnfoldProps {
  readonly isOpen: boolean;
  readonly c: string;
  readonly children: ReactNode;
  onToggle(): void;
}

/** A small line that expands to the entries that it counts. */
function Unfold({ isOpen, c, children, onToggle }: UnfoldProps) {
  const Icon = isOpen ? ChevronDownIcon : ChevronRightIcon;
  return (
    <UnstyledButton className="tiny" c={c} aria-expanded={isOpen} onClick={onToggle}>
      <Icon size={12} style={{ marginInlineEnd: 4, verticalAlign: '-1px' }} />
      {children}
    </UnstyledButton>
  );
}

/** Shows how often an event was pushed and the last answer; expands to all pushes. */
function Pushes({ pushes, of }: { readonly pushes: readonly TimelineEntry[]; readonly of: string | undefined }) {
  const t = useTexts();
  const outcomeText = useOutcomeText();
  const titleOf = useEntryTitle();
  const pushText = usePushText();
  const [isOpen, setOpen] = useState(false);
  const [last] = pushes;
  if (!last) return null;
  return (
    <>
      <Unfold
        isOpen={isOpen}
        c={toneOf(last) === 'negative' ? 'var(--negative)' : 'dimmed'}
        onToggle={() => setOpen(!isOpen)}
      >
        {t('pushes', { count: pushes.length, last: joinParts([outcomeText(last), ...pushText(last)]) })}
      </Unfold>
      {isOpen ? (
        <Box component="ol" w="100%" mt={6} aria-label={of === undefined ? t('earlier') : t('pushesOf', { title: of })}>
          {keyed(pushes).map(([key, push]) => (
            <PushLine
              key={key}
              outcome={push.status ?? ''}
              about={pushText(push).join(' · ')}
              at={push.at}
              answer={push.detail}
            >
              <span>{of === undefined ? titleOf({ ...push, pushes: [] }) : outcomeText(push)}</span>
            </PushLine>
          ))}
        </Box>
      ) : null}
    </>
  );
}

/** Returns the channel's answer to a push, the latency and the retry number as texts. */
function usePushText(): (push: TimelineEntry) => string[] {
  const t = useTexts();
  return ({ data }) => {
    const status = fieldOf(data, 'httpStatus');
    const ms = fieldOf(data, 'latencyMs');
    const retryNo = fieldOf(data, 'retryNo');
    return [
      ...(status ? [`HTTP ${status}`] : []),
      ...(ms ? [t('latency', { ms })] : []),
      ...(retryNo ? [t('retryNo', { retryNo })] : []),
    ];
  };
}

/** Returns the time in the viewer's zone, with the day only if it differs from the day in Beijing. */
const hereText = (moment: Date): string =>
  shortDayText(moment) === shortDayText(moment, VIEWERS_ZONE)
    ? hourText(moment, VIEWERS_ZONE)
    : timeText(moment, VIEWERS_ZONE);

/** Returns the small facts below an entry, such as the institution and its reference, or the event id. */
function useAbout(entry: TimelineEntry): readonly string[] {
  const t = useTexts();
  const pushText = usePushText();
  const { kind, data, when } = entry;
  const field = (name: string) => {
    const value = fieldOf(data, name);
    return value === undefined || value === '' ? [] : [String(value)];
  };
  const reference = field('institutionRef').map((ref) => t('ref', { ref }));
  if (kind === 'attempt') return [...field('paymentChannelCode'), ...reference];
  if (kind === 'push' && when === 'past') return pushText(entry);
  if (kind === 'event') return field('eventId').map((eventId) => t('eventId', { eventId }));
  if (kind === 'refund') return [...field('refundNo'), ...reference];
  if (kind === 'claim') return field('claimNo');
  return [];
}
