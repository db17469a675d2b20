import { Button, Group, NumberInput, Radio, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Benefit, CodesAnswer, FulfilmentRequest } from '../../api/types.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { type ChosenFile, FileDrop } from '../../parts/file-drop.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { Count } from '../../parts/money.tsx';
import { notifyDone } from '../../parts/notify.ts';
import { Facts } from '../../parts/page.tsx';
import { useTexts } from './texts.ts';

interface ImportDialogProps {
  readonly benefitCode: string;
  onImported(): void;
  onClose(): void;
}

/** Codes by file; afterwards what became of them. */
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

function ImportDone({ done, onClose }: { readonly done: CodesAnswer; onClose(): void }) {
  const t = useTexts();
  const common = useCommonTexts();
  return (
    <Dialog isOpen onClose={onClose} title={t('importDone')}>
      <Stack gap={16} role="status">
        <Facts
          facts={[
            [t('imported'), <Count key="imported" value={done.imported} />],
            [t('knownBefore'), <Count key="known" value={done.knownBefore} />],
            [t('repeated'), <Count key="repeated" value={done.repeated} />],
            [t('served'), <Count key="served" value={done.served} />],
            [t('left'), <Count key="left" value={done.benefit.codesLeft ?? 0} />],
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
        notifyDone(t(changed ? 'saved' : 'asBefore'));
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
        allowDecimal={false}
        allowNegative={false}
        thousandSeparator=","
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
  const [kind, setKind] = useState(benefit.kind.toLowerCase() as Kind);
  const [url, setUrl] = useState(benefit.supplierUrl ?? '');
  const [key, setKey] = useState('');
  const isSupplier = kind === 'supplier';
  return (
    <FormDialog
      title={t('sourceTitle', { code: benefit.benefitCode })}
      verb={common('save')}
      isIncomplete={isSupplier && url.trim() === ''}
      onClose={onClose}
      onSubmit={async () => {
        const request: FulfilmentRequest = {
          kind,
          ...(isSupplier ? { supplierUrl: url.trim() } : {}),
          ...(isSupplier && key.trim() !== '' ? { supplierKey: key.trim() } : {}),
        };
        const { changed } = await api.put('/benefits/{benefitCode}/fulfilment', {
          benefitCode: benefit.benefitCode,
          ...request,
        });
        notifyDone(t(changed ? 'saved' : 'asBefore'));
        onChanged();
        onClose();
      }}
    >
      <p className="quiet">{t('sourceHint')}</p>
      <Radio.Group label={t('source')} value={kind} onChange={(chosen) => setKind(chosen as Kind)}>
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
          <TextInput
            label={t('supplierUrl')}
            placeholder="https://"
            value={url}
            onChange={(event) => setUrl(event.currentTarget.value)}
            classNames={{ input: 'mono' }}
            maxLength={2000}
            inputMode="url"
            spellCheck={false}
          />
          <TextInput
            label={t('supplierKey')}
            description={t('supplierKeyHint')}
            value={key}
            onChange={(event) => setKey(event.currentTarget.value)}
            classNames={{ input: 'mono' }}
            maxLength={64}
            autoComplete="off"
            spellCheck={false}
          />
        </>
      ) : null}
    </FormDialog>
  );
}
