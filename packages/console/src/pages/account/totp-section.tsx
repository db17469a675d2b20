import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { TotpBegun } from '../../api/types.ts';
import { ConfirmDialog } from '../../parts/dialogs/confirm-dialog.tsx';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { notifyDone } from '../../parts/notify.ts';
import { Section } from '../../parts/page.tsx';
import { FormProblem, Note } from '../../parts/states.tsx';
import { Copyable } from '../../parts/values/copyable.tsx';
import { QrCode } from '../../parts/values/qr-code.tsx';
import { Tag } from '../../parts/values/status.tsx';
import { reloadSession, useSession } from '../../session/session.ts';
import { useTexts } from './texts.ts';

export function TotpSection() {
  const t = useTexts();
  const { hasTotp, needsTotp } = useSession();
  const [isRemoving, setRemoving] = useState(false);
  const begin = useMutation({ mutationFn: () => api.post('/account/totp', {}) });
  return (
    <Section title={t('codes')} hint={t('codesHint')}>
      {needsTotp ? <Note tone="waiting">{t('codesNeeded')}</Note> : null}
      <Group gap={12} wrap="nowrap">
        <Tag tone={hasTotp ? 'positive' : 'neutral'}>{hasTotp ? t('codesOn') : t('codesOff')}</Tag>
        {hasTotp ? (
          <Button variant="default" onClick={() => setRemoving(true)}>
            {t('remove')}
          </Button>
        ) : (
          <Button variant={needsTotp ? 'filled' : 'default'} loading={begin.isPending} onClick={() => begin.mutate()}>
            {t('setUp')}
          </Button>
        )}
      </Group>
      <FormProblem error={begin.error} />
      {begin.data ? <Confirmation begun={begin.data} onClose={begin.reset} /> : null}
      {isRemoving ? <Removal onClose={() => setRemoving(false)} /> : null}
    </Section>
  );
}

/** Removes the second factor. Asks for a code, so that the password alone is not enough. */
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

/** Activates the secret after the operator has typed a code from it, so that a failed scan locks nobody out. */
function Confirmation({ begun, onClose }: { readonly begun: TotpBegun; onClose(): void }) {
  const t = useTexts();
  const [code, setCode] = useState('');
  const digits = code.replace(/\D/g, '');
  return (
    <FormDialog
      title={t('setUp')}
      verb={t('confirm')}
      isIncomplete={digits.length !== 6}
      onClose={onClose}
      onSubmit={async () => {
        await api.put('/account/totp', { code: digits });
        await reloadSession();
        notifyDone(t('codesDone'));
        onClose();
      }}
    >
      <Group gap={16} align="stretch">
        <QrCode text={begun.uri} label={t('scan')} />
        <Stack gap={8} flex="1 1 150px">
          <p>{t('scan')}</p>
          <p className="quiet">{t('scanHint')}</p>
          <Copyable isWhole value={begun.secret}>
            {begun.secret.replace(/(.{4})(?=.)/g, '$1 ')}
          </Copyable>
        </Stack>
      </Group>
      <CodeField label={t('code')} value={code} onChange={setCode} />
    </FormDialog>
  );
}

interface CodeFieldProps {
  readonly label: string;
  readonly description?: string;
  readonly value: string;
  onChange(value: string): void;
}

/** A field for six digits, which may be typed with a space in the middle. */
function CodeField({ onChange, ...more }: CodeFieldProps) {
  return (
    <TextInput
      {...more}
      inputMode="numeric"
      autoComplete="one-time-code"
      maxLength={9}
      onChange={(event) => onChange(event.currentTarget.value)}
      styles={{ input: { fontSize: '1.125rem', letterSpacing: '0.2em' } }}
      classNames={{ input: 'figures' }}
      data-autofocus
    />
  );
}
