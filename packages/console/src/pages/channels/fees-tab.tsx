import { NumberInput, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { moneyField, useFields } from '../../parts/fields/fields.ts';
import { columnsOf } from '../../parts/lists/columns.tsx';
import { DataTable } from '../../parts/lists/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { notifySaved } from '../../parts/notify.ts';
import { Hint, Section } from '../../parts/page.tsx';
import { Loading } from '../../parts/states.tsx';
import { useMayDo } from '../../session/session.ts';
import { monthName } from '../settlement/month-name.ts';
import { ChannelForm } from './channel-form.tsx';
import { useTexts } from './texts.ts';
import type { ChannelTabProps } from './use-change.ts';

type Terms = Awaited<ReturnType<typeof loadFees>>[number];
const loadFees = async (appId: string, signal: AbortSignal) =>
  (await api.get('/channels/{appId}/fees', { appId }, signal)).fees;

const column = columnsOf<Terms>();
const percent = (basisPoints: number) => `${(basisPoints / 100).toFixed(2)}%`;

/** The fees and the revenue shares of a channel, by the month from which they are valid. */
export function FeesTab({ channel: { appId } }: ChannelTabProps) {
  const t = useTexts();
  const isAdmin = useMayDo('admin');
  const found = useQuery({
    queryKey: ['/channels', appId, 'fees'],
    queryFn: ({ signal }) => loadFees(appId, signal),
  });
  return (
    <>
      <Hint>{t('feesHint')}</Hint>
      <Loaded query={found} meanwhile={<Loading />}>
        {(fees) => (
          <>
            {fees.length === 0 ? (
              <p className="quiet small">{t('feesNone')}</p>
            ) : (
              <DataTable
                caption={t('fees')}
                rows={fees}
                rowKey={({ fromMonth }) => fromMonth}
                columns={[
                  column.of(t('fromMonth'), ({ fromMonth }) => monthName(fromMonth)),
                  column.of(t('feePercent'), ({ feeBasisPoints }) => percent(feeBasisPoints), { align: 'end' }),
                  column.money(t('feeFixed'), 'feeFixedCent'),
                  column.of(t('sharePercent'), ({ shareBasisPoints }) => percent(shareBasisPoints), { align: 'end' }),
                  column.text(t('setBy'), 'setBy'),
                  column.time(t('setAt'), 'setAt'),
                ]}
              />
            )}
            {isAdmin ? (
              <Section title={t('setFees')}>
                <FeesForm key={fees[0]?.setAt} appId={appId} latest={fees[0]} />
              </Section>
            ) : null}
          </>
        )}
      </Loaded>
    </>
  );
}

function FeesForm({ appId, latest }: { readonly appId: string; readonly latest: Terms | undefined }) {
  const t = useTexts();
  const queries = useQueryClient();
  const { values, value, text } = useFields(() => ({
    fromMonth: '',
    fee: (latest ? latest.feeBasisPoints / 100 : '') as number | string,
    fixed: (latest ? latest.feeFixedCent / 100 : 0) as number | string,
    share: (latest ? latest.shareBasisPoints / 100 : '') as number | string,
  }));
  const { fromMonth, fee, fixed, share } = values;
  const change = useMutation({
    mutationFn: () =>
      api.post('/channels/{appId}/fees', {
        appId,
        fromMonth: fromMonth.trim(),
        feeBasisPoints: toHundredths(fee),
        feeFixedCent: toHundredths(fixed),
        shareBasisPoints: toHundredths(share),
      }),
    onSuccess: ({ fees, changed }) => {
      queries.setQueryData(['/channels', appId, 'fees'], fees);
      void queries.invalidateQueries({ queryKey: ['/settlement'] });
      notifySaved(changed);
    },
  });
  const part = { min: 0, max: 100, decimalScale: 2, suffix: '%', hideControls: true };
  return (
    <ChannelForm
      change={change}
      isIdle={!/^\d{4}-\d\d$/.test(fromMonth.trim()) || [fee, fixed, share].includes('')}
      onSave={() => change.mutate()}
    >
      <TextInput label={t('fromMonth')} description={t('fromMonthHint')} placeholder="2026-12" {...text('fromMonth')} />
      <NumberInput label={t('feePercent')} {...value('fee')} {...part} />
      <NumberInput label={t('feeFixed')} {...value('fixed')} {...moneyField()} max={1000} />
      <NumberInput label={t('sharePercent')} {...value('share')} {...part} />
    </ChannelForm>
  );
}

/** Converts percent to basis points, and an amount to cents. */
const toHundredths = (value: number | string): number => Math.round(Number(value) * 100);
