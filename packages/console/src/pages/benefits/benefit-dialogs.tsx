import { Button, Group, NumberInput, Radio, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Benefit, CodesAnswer } from '../../api/types.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { Dialog } from '../../parts/dialogs/dialog.tsx';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { ADDRESS, CODE, useFields, WHOLE } from '../../parts/fields/fields.ts';
import { type ChosenFile, FileDrop } from '../../parts/fields/file-drop.tsx';
import { notifySaved } from '../../parts/notify.ts';
import { Facts } from '../../parts/page.tsx';
import { countText } from '../../parts/values/money.tsx';
import { useTexts } from './texts.ts';

interface ImportDialogProps {
  readonly benefitCode: string;
  onImported(): void;
  onClose(): void;
}

/** Imports codes from a file, then shows the result. */
export function ImportDialog({ benefitCode, onImported, onClose }: ImportDialogProps) {
  const t = useTexts();
  const [file, setFile] = useState<ChosenFile>();
  const [done, setDone] = useState<CodesAnswer>();
  if (done) return <ImportDone done={done} onClose={onClose} />;
  return (
    <FormDialog
      title={t('importTitle', { code: benefitCode })}
      verb={t('importVerb')}
      isIncomplete={file === undefined || file.text.trim() === ''}
      onClose={onClose}
      onSubmit={async () => {
        setDone(await api.post('/benefits/{benefitCode}/codes', { benefitCode, codes: file?.text ?? '' }));
        onImported();
      }}
    >
      <p>{t('importHint')}</p>
      <FileDrop
        label={t('file')}
        hint={t('fileLimit')}
        accept=".txt,.csv,text/plain,text/csv"
        file={file}
        onChange={setFile}
      />
    </FormDialog>
  );
}

const COUNTS = ['imported', 'knownBefore', 'repeated', 'served'] as const;

function ImportDone({ done, onClose }: { readonly done: CodesAnswer; onClose(): void }) {
  const t = useTexts();
  const common = useCommonTexts();
  return (
    <Dialog isOpen onClose={onClose} title={t('importDone')}>
      <Stack gap={16} role="status">
        <Facts
          facts={[
            ...COUNTS.map((name) => [t(name), countText(done[name])] as const),
            [t('left'), countText(done.benefit.codesLeft ?? 0)],
          ]}
        />
        <Group gap={8} justify="flex-end">
          <Button onClick={onClose} data-autofocus>
            {common('done')}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

interface BenefitDialogProps {
  readonly benefit: Benefit;
  onChanged(): void;
  onClose(): void;
}

export function ThresholdDialog({ benefit, onChanged, onClose }: BenefitDialogProps) {
  const t = useTexts();
  const common = useCommonTexts();
  const [lowStock, setLowStock] = useState<number | string>(benefit.lowStock ?? '');
  return (
    <FormDialog
      title={t('thresholdTitle')}
      verb={common('save')}
      onClose={onClose}
      onSubmit={async () => {
        const { changed } = await api.put('/benefits/{benefitCode}/low-stock', {
          benefitCode: benefit.benefitCode,
          lowStock: lowStock === '' ? null : Number(lowStock),
        });
        notifySaved(changed);
        onChanged();
        onClose();
      }}
    >
      <NumberInput
        label={t('threshold')}
        description={t('thresholdHint')}
        value={lowStock}
        onChange={setLowStock}
        min={1}
        max={10_000_000}
        {...WHOLE}
        data-autofocus
      />
    </FormDialog>
  );
}

const KINDS = ['generated', 'pool', 'supplier'] as const;
type Kind = (typeof KINDS)[number];

export function SourceDialog({ benefit, onChanged, onClose }: BenefitDialogProps) {
  const t = useTexts();
  const common = useCommonTexts();
  const { benefitCode } = benefit;
  const { values, text, value } = useFields(() => ({
    kind: benefit.kind.toLowerCase() as Kind,
    url: benefit.supplierUrl ?? '',
    key: '',
  }));
  const { kind, url, key } = values;
  const isSupplier = kind === 'supplier';
  return (
    <FormDialog
      title={t('sourceTitle', { code: benefitCode })}
      verb={common('save')}
      isIncomplete={isSupplier && url.trim() === ''}
      onClose={onClose}
      onSubmit={async () => {
        const { changed } = await api.put('/benefits/{benefitCode}/fulfilment', {
          benefitCode,
          kind,
          ...(isSupplier ? { supplierUrl: url.trim() } : {}),
          ...(isSupplier && key.trim() !== '' ? { supplierKey: key.trim() } : {}),
        });
        notifySaved(changed);
        onChanged();
        onClose();
      }}
    >
      <p className="quiet">{t('sourceHint')}</p>
      <Radio.Group label={t('source')} {...value('kind')}>
        <Stack gap={8} mt={6}>
          {KINDS.map((one) => (
            <Radio
              key={one}
              value={one}
              label={t(one.toUpperCase() as Benefit['kind'])}
              description={t(`${one}Hint`)}
            />
          ))}
        </Stack>
      </Radio.Group>
      {isSupplier ? (
        <>
          <TextInput label={t('supplierUrl')} {...text('url')} {...ADDRESS} />
          <TextInput label={t('supplierKey')} description={t('supplierKeyHint')} {...text('key')} {...CODE} />
        </>
      ) : null}
    </FormDialog>
  );
}
