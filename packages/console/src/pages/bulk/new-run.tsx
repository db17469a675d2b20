import { Button, Group, NumberInput, SegmentedControl, Select, Textarea } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { BulkKind, BulkRequest } from '../../api/order-types.ts';
import { newRequestKey } from '../../api/request-key.ts';
import { useChannelNames, useProductNames } from '../../catalog/catalog.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { NOUNS } from '../../i18n/nouns.ts';
import { PlusIcon } from '../../icons/icons.tsx';
import { ReasonDialog } from '../../parts/dialogs/reason-dialog.tsx';
import { WHOLE } from '../../parts/fields/fields.ts';
import { type ChosenFile, FileDrop } from '../../parts/fields/file-drop.tsx';
import { DayRangeFilter } from '../../parts/lists/day-range-filter.tsx';
import { useMayDo } from '../../session/session.ts';
import { useKindHints, useKindTexts } from './words.ts';

const useTexts = dictionary({
  ...NOUNS,
  newRun: ['New run…', '新建任务…'],
  title: ['New bulk run', '新建批量任务'],
  prepare: ['Dry run', '试运行'],
  action: ['Action', '操作'],
  selectBy: ['Select by', '选择方式'],
  list: ['List of numbers', '单号列表'],
  paid: ['Payment day', '支付日期'],
  numbers: ['Numbers', '单号'],
  numbersHint: [
    'One on each line: order numbers, payment numbers or the channels’ own order numbers. At most 10,000.',
    '每行一个：订单号、扣款单号或外部订单号，最多 10,000 个。',
  ],
  file: ['Or a file', '或上传文件'],
  fileHint: ['A text file with one number on each line', '文本文件，每行一个单号'],
  paidDays: ['Paid on (Beijing time)', '支付日期（北京时间）'],
  all: ['All', '全部'],
  onlyPeriod: ['Only period', '仅第几期'],
  whichPeriod: ['Period of each order', '各订单的期数'],
  latest: ['Latest', '最近一期'],
  periodHint: ['A payment number names its own period.', '扣款单号以其自身期数为准。'],
});

const KINDS: readonly BulkKind[] = ['REFUND', 'RETRY', 'UNSUBSCRIBE'];

/** A button that prepares a run from a list of numbers, or from the payments of some days. */
export function NewRunButton() {
  const t = useTexts();
  const [isOpen, setOpen] = useState(false);
  const isSupport = useMayDo('support');
  const isFinance = useMayDo('finance');
  const kinds = KINDS.filter((kind) => (kind === 'REFUND' ? isFinance : isSupport));
  if (kinds.length === 0) return null;
  return (
    <>
      <Button leftSection={<PlusIcon size={16} />} onClick={() => setOpen(true)}>
        {t('newRun')}
      </Button>
      {isOpen ? <NewRunDialog kinds={kinds} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

interface NewRunDialogProps {
  readonly kinds: readonly BulkKind[];
  onClose(): void;
}

function NewRunDialog({ kinds, onClose }: NewRunDialogProps) {
  const t = useTexts();
  const kindText = useKindTexts();
  const kindHint = useKindHints();
  const navigate = useNavigate();
  const channels = useChannelNames();
  const products = useProductNames();
  const [key] = useState(newRequestKey);
  const [kind, setKind] = useState<BulkKind>(kinds[0] ?? 'REFUND');
  const [way, setWay] = useState<'list' | 'paid'>('list');
  const [typed, setTyped] = useState('');
  const [file, setFile] = useState<ChosenFile>();
  const [days, setDays] = useState<{ readonly from: string | undefined; readonly to: string | undefined }>();
  const [appId, setAppId] = useState<string | null>(null);
  const [productCode, setProductCode] = useState<string | null>(null);
  const [cycleNo, setCycleNo] = useState<number | string>('');
  const isByDay = kind === 'REFUND' && way === 'paid';
  const numbers = file?.text ?? typed;
  const period = kind === 'UNSUBSCRIBE' || cycleNo === '' ? undefined : Number(cycleNo);
  const selection = (): Omit<BulkRequest, 'kind' | 'reason' | 'key'> => {
    if (!isByDay) {
      return {
        numbers,
        ...(file ? { fileName: file.name.slice(0, 100) } : {}),
        ...(period === undefined ? {} : { cycleNo: period }),
      };
    }
    const filter = { paidFrom: days?.from, paidTo: days?.to, appId, productCode, cycleNo: period?.toString() };
    return { filter: Object.fromEntries(Object.entries(filter).filter((one): one is [string, string] => !!one[1])) };
  };
  return (
    <ReasonDialog
      title={t('title')}
      verb={t('prepare')}
      isIncomplete={isByDay ? days?.from === undefined || days.to === undefined : numbers.trim() === ''}
      onClose={onClose}
      onConfirm={async (reason) => {
        const { runId } = await api.post('/bulk', { kind, ...selection(), reason, key });
        await navigate({ to: '/bulk/$runId', params: { runId } });
      }}
    >
      <Select
        label={t('action')}
        description={kindHint(kind)}
        data={kinds.map((value) => ({ value, label: kindText(value) }))}
        value={kind}
        onChange={(value) => value && setKind(value as BulkKind)}
        allowDeselect={false}
      />
      {kind === 'REFUND' ? (
        <SegmentedControl
          aria-label={t('selectBy')}
          data={[
            { value: 'list', label: t('list') },
            { value: 'paid', label: t('paid') },
          ]}
          value={way}
          onChange={(value) => setWay(value as 'list' | 'paid')}
        />
      ) : null}
      {isByDay ? (
        <>
          <DayRangeFilter label={t('paidDays')} from={days?.from} to={days?.to} onChange={setDays} />
          <Group grow align="flex-start">
            <Select
              label={t('channel')}
              placeholder={t('all')}
              data={[...channels.choices]}
              value={appId}
              onChange={setAppId}
              clearable
              searchable
            />
            <Select
              label={t('product')}
              placeholder={t('all')}
              data={[...products.choices]}
              value={productCode}
              onChange={setProductCode}
              clearable
              searchable
            />
          </Group>
        </>
      ) : (
        <>
          {file ? null : (
            <Textarea
              label={t('numbers')}
              description={t('numbersHint')}
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
              classNames={{ input: 'mono' }}
              spellCheck={false}
              data-autofocus
              autosize
              minRows={4}
              maxRows={10}
            />
          )}
          <FileDrop
            label={t('file')}
            hint={t('fileHint')}
            accept=".txt,.csv,text/plain,text/csv"
            file={file}
            onChange={setFile}
          />
        </>
      )}
      {kind === 'UNSUBSCRIBE' ? null : (
        <NumberInput
          label={t(isByDay ? 'onlyPeriod' : 'whichPeriod')}
          description={isByDay ? undefined : t('periodHint')}
          placeholder={t(isByDay ? 'all' : 'latest')}
          value={cycleNo}
          onChange={setCycleNo}
          min={1}
          max={9999}
          {...WHOLE}
        />
      )}
    </ReasonDialog>
  );
}
