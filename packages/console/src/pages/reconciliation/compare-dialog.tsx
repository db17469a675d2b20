import { SegmentedControl, Select } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useFilters } from '../../address/filters.ts';
import { paymentChannelsQuery } from '../../api/catalog.ts';
import { api } from '../../api/client.ts';
import type { ReconcileRequest } from '../../api/types.ts';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { DayField, yesterday } from '../../parts/fields/day-field.tsx';
import { type ChosenFile, FileDrop } from '../../parts/fields/file-drop.tsx';
import { notifyDone } from '../../parts/notify.ts';
import { countText } from '../../parts/values/money.tsx';
import { useTexts } from './texts.ts';

/** Returns the day in the name of a statement file, if the name has one. */
const dayInName = (name: string): string | undefined => {
  const [, year, month, day] = /(20\d\d)-?(\d\d)-?(\d\d)/.exec(name) ?? [];
  return year === undefined ? undefined : `${year}-${month}-${day}`;
};

export function CompareDialog({ onClose }: { onClose(): void }) {
  const t = useTexts();
  const queries = useQueryClient();
  const filters = useFilters(['paymentChannelCode', 'day', 'view', 'which']);
  const { data: channels = [] } = useQuery(paymentChannelsQuery);
  const [code, setCode] = useState(filters.values.paymentChannelCode ?? null);
  const [file, setFile] = useState<ChosenFile>();
  const [day, setDay] = useState(filters.values.day ?? yesterday());
  const [source, setSource] = useState('file');
  const hasBridge = channels.find((one) => one.code === code)?.gateway === 'bridge';
  const isFromFile = source === 'file' || !hasBridge;
  return (
    <FormDialog
      title={t('compareTitle')}
      verb={t('compareVerb')}
      isIncomplete={code === null || (isFromFile && file === undefined)}
      onClose={onClose}
      onSubmit={async () => {
        const request: ReconcileRequest = {
          paymentChannelCode: code ?? '',
          day,
          ...(isFromFile && file ? { csv: file.text } : {}),
        };
        const done = await api.post('/reconciliations', request);
        const lines = countText(done.lines);
        notifyDone(
          done.differences === 0
            ? t('compared', { count: lines })
            : t('comparedWith', { lines, differences: countText(done.differences) }),
        );
        void queries.invalidateQueries({ queryKey: ['/reconciliations'] });
        void queries.invalidateQueries({ queryKey: ['/differences'] });
        filters.set(
          done.differences === 0
            ? { view: 'days', paymentChannelCode: undefined, day: undefined, which: undefined }
            : { view: undefined, paymentChannelCode: done.paymentChannelCode, day: done.day, which: undefined },
        );
        onClose();
      }}
    >
      <Select
        label={t('paymentChannel')}
        placeholder={t('chooseChannel')}
        data={channels.map((one) => ({ value: one.code, label: one.displayName }))}
        value={code}
        onChange={setCode}
        data-autofocus
      />
      <DayField
        label={t('day')}
        description={t('dayHint')}
        value={day}
        onChange={(chosen) => chosen && setDay(chosen)}
      />
      {hasBridge ? (
        <SegmentedControl
          aria-label={t('statementFrom')}
          value={source}
          onChange={setSource}
          data={[
            { value: 'file', label: t('file') },
            { value: 'bridge', label: t('bridge') },
          ]}
        />
      ) : null}
      {isFromFile ? (
        <FileDrop
          label={t('file')}
          hint={t('fileHint')}
          accept=".csv,text/csv"
          file={file}
          onChange={(chosen) => {
            setFile(chosen);
            setDay((before) => dayInName(chosen.name) ?? before);
          }}
        />
      ) : null}
      <p className="quiet">{t('compareAgain')}</p>
    </FormDialog>
  );
}
