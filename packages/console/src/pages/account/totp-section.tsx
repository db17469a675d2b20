import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { TotpBegun } from '../../api/types.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Copyable } from '../../parts/copyable.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { notifyDone } from '../../parts/notify.ts';
import { Section } from '../../parts/page.tsx';
import { QrCode } from '../../parts/qr-code.tsx';
import { FormProblem } from '../../parts/states.tsx';
import { Tag } from '../../parts/status.tsx';
import { reloadSession, useSession } from '../../session/session.ts';
import styles from './account.module.css';
import { useTexts } from './texts.ts';

export function TotpSection() {
  const t = useTexts();
  const { hasTotp } = useSession();
  const [isRemoving, setRemoving] = useState(false);
  const begin = useMutation({ mutationFn: () => api.post('/account/totp', {}) });
  return (
    <Section title={t('codes')} hint={t('codesHint')}>
      <Group gap={12} wrap="nowrap">
        <Tag tone={hasTotp ? 'positive' : 'neutral'}>{hasTotp ? t('codesOn') : t('codesOff')}</Tag>
        {hasTotp ? (
          <Button variant="default" onClick={() => setRemoving(true)}>
            {t('remove')}
          </Button>
        ) : (
          <Button variant="default" loading={begin.isPending} onClick={() => begin.mutate()}>
            {t('setUp')}
          </Button>
        )}
      </Group>
      <FormProblem error={begin.error} />
      <Dialog isOpen={begin.data !== undefined} onClose={begin.reset} title={t('setUp')} isKept>
        {begin.data ? <Confirmation begun={begin.data} onClose={begin.reset} /> : null}
      </Dialog>
      {isRemoving ? <Removal onClose={() => setRemoving(false)} /> : null}
    </Section>
  );
}

/** By a code: who has the password alone cannot take the second factor away. */
function Removal({ onClose }: { onClose(): void }) {
  const t = useTexts();
  const [code, setCode] = useState('');
  const digits = code.replace(/\D/g, '');
  return (
    <ConfirmDialog
      isOpen
      title={t('removeTitle')}
      verb={t('remove')}
      isDangerous
      isIncomplete={digits.length !== 6}
      onConfirm={async () => {
        await api.post('/account/totp/remove', { code: digits });
        await reloadSession();
        notifyDone(t('removed'));
      }}
      onClose={onClose}
    >
      <p>{t('removeHint')}</p>
      <CodeField label={t('removeCode')} description={t('removeCodeHint')} value={code} onChange={setCode} />
    </ConfirmDialog>
  );
}

/** The secret counts once a code made from it was given: a phone that did not take it locks nobody out. */
function Confirmation({ begun, onClose }: { readonly begun: TotpBegun; onClose(): void }) {
  const t = useTexts();
  const common = useCommonTexts();
  const [code, setCode] = useState('');
  const digits = code.replace(/\D/g, '');
  const confirm = useMutation({
    mutationFn: () => api.put('/account/totp', { code: digits }),
    onSuccess: async () => {
      await reloadSession();
      notifyDone(t('codesDone'));
      onClose();
    },
  });
  return (
    <Stack
      component="form"
      gap={14}
      maw={420}
      onSubmit={(event) => {
        event.preventDefault();
        if (digits.length === 6) confirm.mutate();
      }}
    >
      <Group gap={16} align="stretch">
        <QrCode text={begun.uri} label={t('scan')} />
        <div className={styles.scanWords}>
          <p>{t('scan')}</p>
          <p className="quiet">{t('scanHint')}</p>
          <div className={styles.secret}>
            <Copyable value={begun.secret}>{begun.secret.replace(/(.{4})(?=.)/g, '$1 ')}</Copyable>
          </div>
        </div>
      </Group>
      <CodeField label={t('code')} value={code} onChange={setCode} />
      <FormProblem error={confirm.error} />
      <Group gap={8} justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {common('cancel')}
        </Button>
        <Button type="submit" disabled={digits.length !== 6} loading={confirm.isPending}>
          {t('confirm')}
        </Button>
      </Group>
    </Stack>
  );
}

interface CodeFieldProps {
  readonly label: string;
  readonly description?: string;
  readonly value: string;
  onChange(value: string): void;
}

/** Six digits, which people type with a gap in the middle. */
function CodeField({ onChange, ...more }: CodeFieldProps) {
  return (
    <TextInput
      {...more}
      inputMode="numeric"
      autoComplete="one-time-code"
      maxLength={9}
      onChange={(event) => onChange(event.currentTarget.value)}
      classNames={{ input: `figures ${styles.code}` }}
      data-autofocus
    />
  );
}
