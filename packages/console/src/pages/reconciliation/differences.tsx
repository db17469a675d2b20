import { Button, Paper, SegmentedControl, SimpleGrid, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useFilters } from '../../address/filters.ts';
import { places } from '../../address/places.ts';
import { api } from '../../api/client.ts';
import type { Difference } from '../../api/types.ts';
import { usePages } from '../../api/use-pages.ts';
import { useInstitutionNames } from '../../catalog/catalog.ts';
import { Sheet, SheetPart } from '../../parts/dialogs/sheet.tsx';
import { DayField } from '../../parts/fields/day-field.tsx';
import { NoteField } from '../../parts/fields/note-field.tsx';
import { OwnerPicker } from '../../parts/fields/owner-picker.tsx';
import { CsvExport } from '../../parts/lists/csv-export.tsx';
import type { Column } from '../../parts/lists/data-table.tsx';
import { ChoiceFilter, FilterBar } from '../../parts/lists/filter-bar.tsx';
import { List } from '../../parts/lists/list.tsx';
import { notifyDone } from '../../parts/notify.ts';
import { Facts } from '../../parts/page.tsx';
import { Empty, FormProblem, Note, NotFound } from '../../parts/states.tsx';
import { Copyable } from '../../parts/values/copyable.tsx';
import { Money } from '../../parts/values/money.tsx';
import { PlaceLink } from '../../parts/values/place-link.tsx';
import { Tag } from '../../parts/values/status.tsx';
import { Time } from '../../parts/values/time.tsx';
import { dayText, momentOf } from '../../parts/values/time-text.ts';
import { useMayDo } from '../../session/session.ts';
import { DIFFERENCE_FILTERS } from './filters.ts';
import { useTexts } from './texts.ts';

const KINDS = ['MISSING_HERE', 'MISSING_THERE', 'AMOUNT', 'STATE', 'DUPLICATE', 'OUTSIDE'] as const;

const TONES = {
  SUCCESS: 'positive',
  FAIL: 'negative',
  PENDING: 'progress',
  STARTED: 'progress',
  OUTSIDE: 'neutral',
} as const;
const RESULTS = Object.keys(TONES) as (keyof typeof TONES)[];

function useWords() {
  const t = useTexts();
  return {
    kind: (kind: string) => {
      const known = KINDS.find((one) => one === kind);
      return known ? t(known) : kind;
    },
    result: (status: string) => {
      const known = RESULTS.find((one) => one === status);
      return known ? <Tag tone={TONES[known]}>{t(known)}</Tag> : <Tag tone="neutral">{status}</Tag>;
    },
    line: (lineKind: Difference['lineKind']) => (lineKind === 'REFUND' ? t('refund') : t('debit')),
  };
}

export function Differences() {
  const t = useTexts();
  const words = useWords();
  const filters = useFilters(DIFFERENCE_FILTERS);
  const opened = useFilters(['no']);
  const institutions = useInstitutionNames();
  const list = usePages('/differences', filters.values, (page) => page.differences);
  // The difference just closed. It leaves the list of open differences but is shown until the sheet is closed.
  const [closed, setClosed] = useState<Difference>();
  const columns: readonly Column<Difference>[] = [
    { id: 'kind', header: t('kind'), cell: ({ kind }) => words.kind(kind) },
    {
      id: 'status',
      header: t('status'),
      cell: (one) => <DifferenceState difference={one} />,
      inCard: 'aside',
    },
    { id: 'day', header: t('day'), cell: ({ day }) => <span className="figures">{dayText(momentOf(day))}</span> },
    { id: 'channel', header: t('paymentChannel'), cell: (one) => institutions.of(one.paymentChannelCode), grows: true },
    {
      id: 'number',
      header: t('number'),
      cell: ({ number, lineKind, orderNo }) => (
        <>
          <span className="quiet">{words.line(lineKind)}</span>{' '}
          <Copyable value={number}>
            {orderNo === null ? number : <PlaceLink to={places.order(orderNo)}>{number}</PlaceLink>}
          </Copyable>
        </>
      ),
    },
    {
      id: 'here',
      header: t('here'),
      cell: ({ hereAmountCent }) => <Amount cents={hereAmountCent} />,
      align: 'end',
    },
    {
      id: 'there',
      header: t('there'),
      cell: ({ thereAmountCent }) => <Amount cents={thereAmountCent} />,
      align: 'end',
    },
    {
      id: 'owner',
      header: t('owner'),
      cell: ({ owner }) => owner ?? <span className="quiet">{t('nobody')}</span>,
    },
  ];
  const one = [...(list.rows ?? []), closed].find((row) => row !== undefined && row.differenceNo === opened.values.no);
  return (
    <>
      <FilterBar
        filters={filters}
        aside={
          <CsvExport
            path="/differences.csv"
            filter={filters.values}
            total={undefined}
            isEmpty={list.rows?.length === 0}
            doneText={(count) => t('exported', { count })}
          />
        }
      >
        <SegmentedControl
          aria-label={t('which')}
          value={filters.values.which ?? 'open'}
          data={[
            { value: 'open', label: t('isOpen') },
            { value: 'all', label: t('all') },
          ]}
          onChange={(value) => filters.set({ which: value === 'open' ? undefined : value })}
        />
        <ChoiceFilter
          label={t('paymentChannel')}
          value={filters.values.paymentChannelCode}
          choices={institutions.choices}
          onChange={(paymentChannelCode) => filters.set({ paymentChannelCode })}
        />
        <DayField
          size="xs"
          w={150}
          placeholder={t('day')}
          value={filters.values.day}
          isClearable
          onChange={(day) => filters.set({ day })}
        />
      </FilterBar>
      <List
        list={list}
        caption={t('caption')}
        columns={columns}
        rowKey={({ differenceNo }) => differenceNo}
        onOpen={({ differenceNo }) => opened.set({ no: differenceNo })}
        empty={
          filters.count > 0 ? (
            <Empty isFiltered title={t('emptyFiltered')} />
          ) : (
            <Empty title={t('empty')} hint={t('emptyHint')} />
          )
        }
      />
      <Sheet
        isOpen={opened.values.no !== undefined && list.rows !== undefined}
        title={one ? words.kind(one.kind) : t('kind')}
        onClose={() => opened.set({ no: undefined })}
      >
        {one ? (
          <OneDifference
            key={one.differenceNo}
            difference={one}
            channelName={institutions.of(one.paymentChannelCode)}
            onClosed={setClosed}
          />
        ) : (
          <NotFound />
        )}
      </Sheet>
    </>
  );
}

function DifferenceState({ difference }: { readonly difference: Difference }) {
  const t = useTexts();
  return difference.closedAt === null ? (
    <Tag tone="waiting">{t('isOpen')}</Tag>
  ) : (
    <Tag tone="neutral">{t('isClosed')}</Tag>
  );
}

function Amount({ cents }: { readonly cents: number | null }) {
  const t = useTexts();
  return cents === null ? <span className="quiet">{t('notThere')}</span> : <Money cents={cents} />;
}

interface OneDifferenceProps {
  readonly difference: Difference;
  readonly channelName: string;
  onClosed(difference: Difference): void;
}

function OneDifference({ difference, channelName, onClosed }: OneDifferenceProps) {
  const t = useTexts();
  const words = useWords();
  const mayClose = useMayDo('finance');
  const mayOwn = useMayDo(['finance', 'support']);
  const queries = useQueryClient();
  const reload = () => {
    void queries.invalidateQueries({ queryKey: ['/reconciliations'] });
    return queries.invalidateQueries({ queryKey: ['/differences'] });
  };
  const side = (title: string, cents: number | null, status: string | null) => (
    <Paper withBorder py={12} px={16}>
      <Text fz="xs" fw={500} c="dimmed">
        {title}
      </Text>
      <Text fz="lg" fw={600}>
        <Amount cents={cents} />
      </Text>
      {status === null ? null : words.result(status)}
    </Paper>
  );
  return (
    <>
      <SimpleGrid cols={2} spacing={12}>
        {side(t('here'), difference.hereAmountCent, difference.hereStatus)}
        {side(t('there'), difference.thereAmountCent, difference.thereStatus)}
      </SimpleGrid>
      <Facts
        facts={[
          [t('paymentChannel'), channelName],
          [t('day'), dayText(momentOf(difference.day))],
          [words.line(difference.lineKind), <Copyable key="number" value={difference.number} />],
          [
            t('order'),
            difference.orderNo === null ? (
              <span key="none" className="quiet">
                {t('noOrder')}
              </span>
            ) : (
              <Copyable key="order" value={difference.orderNo}>
                <PlaceLink to={places.order(difference.orderNo)}>{difference.orderNo}</PlaceLink>
              </Copyable>
            ),
          ],
          [t('firstSeen'), <Time key="first" value={difference.firstSeenAt} />],
          [t('lastSeen'), <Time key="last" value={difference.lastSeenAt} />],
          [
            t('owner'),
            <OwnerPicker
              key="owner"
              owner={difference.owner}
              mayChange={mayOwn && difference.closedAt === null}
              onChange={async (owner) => {
                await api.put('/differences/{differenceNo}/owner', { differenceNo: difference.differenceNo, owner });
                await reload();
              }}
            />,
          ],
          [t('status'), <DifferenceState key="status" difference={difference} />],
        ]}
      />
      {difference.closedAt === null ? (
        mayClose ? (
          <SheetPart title={t('closing')}>
            <ClosingNote
              differenceNo={difference.differenceNo}
              onClosed={(now) => {
                onClosed(now);
                return reload();
              }}
            />
          </SheetPart>
        ) : null
      ) : (
        <SheetPart title={t('closing')}>
          <Note tone="neutral" mb={6} style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
            {difference.closingNote}
          </Note>
          <p className="quiet">
            {t('closedBy', { name: difference.closedBy ?? '' })} · <Time value={difference.closedAt} />
          </p>
        </SheetPart>
      )}
    </>
  );
}

interface ClosingNoteProps {
  readonly differenceNo: string;
  onClosed(difference: Difference): Promise<unknown>;
}

function ClosingNote({ differenceNo, onClosed }: ClosingNoteProps) {
  const t = useTexts();
  const [note, setNote] = useState('');
  const close = useMutation({
    mutationFn: () => api.post('/differences/{differenceNo}/close', { differenceNo, note: note.trim() }),
    onSuccess: (answer) => {
      notifyDone(t('closedNow'));
      return onClosed(answer.difference);
    },
  });
  return (
    <Stack
      component="form"
      gap={8}
      align="flex-end"
      onSubmit={(event) => {
        event.preventDefault();
        if (note.trim() !== '') close.mutate();
      }}
    >
      <NoteField aria-label={t('closing')} description={t('closeHint')} value={note} onChange={setNote} />
      <FormProblem error={close.error} />
      <Button type="submit" disabled={note.trim() === ''} loading={close.isPending}>
        {t('closeVerb')}
      </Button>
    </Stack>
  );
}
