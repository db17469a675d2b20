import { Button, List, Select, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useFilters } from '../../address/filters.ts';
import { places } from '../../address/places.ts';
import { api, download } from '../../api/client.ts';
import type { SettlementMonth, SettlementMonths } from '../../api/types.ts';
import { DownloadIcon, LockIcon } from '../../icons/icons.tsx';
import { ConfirmDialog } from '../../parts/dialogs/confirm-dialog.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { notifyDone, notifyProblem } from '../../parts/notify.ts';
import { Hint, Page } from '../../parts/page.tsx';
import { Empty, LoadingRows } from '../../parts/states.tsx';
import { countText } from '../../parts/values/money.tsx';
import { PlaceLink } from '../../parts/values/place-link.tsx';
import { Status } from '../../parts/values/status.tsx';
import { Time } from '../../parts/values/time.tsx';
import { useMayDo } from '../../session/session.ts';
import { SETTLEMENT_FILTERS } from './filters.ts';
import { monthName as nameOf } from './month-name.ts';
import { MonthTable } from './month-table.tsx';
import { useTexts } from './texts.ts';

/** Shows and closes the settlement of a month. */
export default function SettlementPage() {
  const t = useTexts();
  const months = useQuery({
    queryKey: ['/settlement'],
    queryFn: async ({ signal }) => (await api.get('/settlement', {}, signal)).months,
  });
  const filters = useFilters(SETTLEMENT_FILTERS);
  return (
    <Loaded
      query={months}
      meanwhile={
        <Page title={t('title')}>
          <LoadingRows />
        </Page>
      }
    >
      {(all) => {
        const month = filters.values.month ?? all[0]?.month;
        if (month === undefined)
          return (
            <Page title={t('title')}>
              <Empty title={t('noMonths')} hint={t('noMonthsHint')} />
            </Page>
          );
        return (
          <OneMonth key={month} month={month} months={all} onChoose={(chosen) => filters.set({ month: chosen })} />
        );
      }}
    </Loaded>
  );
}

interface OneMonthProps {
  readonly month: string;
  readonly months: SettlementMonths['months'];
  onChoose(month: string): void;
}

function OneMonth({ month, months, onChoose }: OneMonthProps) {
  const t = useTexts();
  const mayClose = useMayDo('finance');
  const [isClosing, setClosing] = useState(false);
  const found = useQuery({
    queryKey: ['/settlement', month],
    queryFn: ({ signal }) => api.get('/settlement/{month}', { month }, signal),
  });
  const save = useMutation({
    mutationFn: () => download('/settlement/{month}/csv', { month }),
    onError: notifyProblem,
  });
  const shown = found.data;
  // The oldest open month that is over. The list begins with the current month, which is skipped because it is not
  // over.
  const next = months.slice(1).findLast(({ status }) => status === 'OPEN')?.month;
  const known = months.some((one) => one.month === month) ? months : [{ month }, ...months];
  return (
    <Page
      title={t('title')}
      aside={shown ? <Status of="month" value={shown.status} /> : null}
      actions={
        <>
          <Select
            aria-label={t('month')}
            w={150}
            data={known.map((one) => ({ value: one.month, label: nameOf(one.month) }))}
            value={month}
            onChange={(chosen) => chosen && onChoose(chosen)}
          />
          <Button
            variant="default"
            leftSection={<DownloadIcon size={16} />}
            loading={save.isPending}
            onClick={() => save.mutate()}
          >
            {t('csv')}
          </Button>
          {mayClose && month === next ? (
            <Button leftSection={<LockIcon size={16} />} onClick={() => setClosing(true)}>
              {t('close')}
            </Button>
          ) : null}
        </>
      }
    >
      <Loaded query={found}>
        {(settled) => (
          <>
            <Hints settled={settled} />
            {mayClose && next !== undefined && next !== month ? (
              <p className="small">
                {t('nextHint', { month: nameOf(next) })}{' '}
                <Button variant="default" size="compact-sm" onClick={() => onChoose(next)}>
                  {t('showNext', { month: nameOf(next) })}
                </Button>
              </p>
            ) : null}
            {settled.channels.length === 0 ? (
              <Empty title={t('empty')} />
            ) : (
              <MonthTable caption={t('caption', { month: nameOf(month) })} month={settled} />
            )}
          </>
        )}
      </Loaded>
      {isClosing && shown ? <CloseMonth shown={shown} onClose={() => setClosing(false)} /> : null}
    </Page>
  );
}

/** Says whether the figures are final. */
function Hints({ settled }: { readonly settled: SettlementMonth }) {
  const t = useTexts();
  const { status, monthIsOver, closedBy, closedAt, unsettled } = settled;
  return (
    <div>
      {status === 'CLOSED' ? (
        <>
          <Hint>
            {t('closedBy', { name: closedBy ?? '' })} · <Time value={closedAt} />
          </Hint>
          <Hint>{t('closedHint')}</Hint>
        </>
      ) : (
        <Hint>{t(monthIsOver ? 'openHint' : 'notOver')}</Hint>
      )}
      {unsettled > 0 ? (
        <Text fz="sm" c="var(--waiting)" mt={4}>
          {t(status === 'CLOSED' ? 'unsettledThenHint' : 'unsettledHint', { count: countText(unsettled) })}{' '}
          <PlaceLink to={places.payments({ status: 'STARTED' })}>{t('unsettledLink')}</PlaceLink>
        </Text>
      ) : null}
    </div>
  );
}

function CloseMonth({ shown, onClose }: { readonly shown: SettlementMonth; onClose(): void }) {
  const t = useTexts();
  const queries = useQueryClient();
  const [note, setNote] = useState('');
  const { month, unsettled } = shown;
  return (
    <ConfirmDialog
      isOpen
      isDangerous
      title={t('closeTitle', { month: nameOf(month) })}
      verb={t('close')}
      typed={month}
      onConfirm={async () => {
        const request = { confirmation: month, ...(note.trim() === '' ? {} : { note: note.trim() }) };
        const closed = await api.post('/settlement/{month}/close', { month, ...request });
        queries.setQueryData(['/settlement', month], closed);
        void queries.invalidateQueries({ queryKey: ['/settlement'] });
        notifyDone(t('closed', { month: nameOf(month) }));
      }}
      onClose={onClose}
    >
      <List spacing={6}>
        <List.Item>{t('closeFreezes')}</List.Item>
        <List.Item>{t('closeLater')}</List.Item>
        <List.Item>{t('closeForever')}</List.Item>
        {unsettled > 0 ? <List.Item>{t('unsettledHint', { count: countText(unsettled) })}</List.Item> : null}
      </List>
      <TextInput
        label={t('note')}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
        maxLength={200}
      />
    </ConfirmDialog>
  );
}
