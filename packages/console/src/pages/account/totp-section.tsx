import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { TotpBegun } from '../../api/types.ts';
import { ConfirmDialog } from '../../parts/dialogs/confirm-dialog.tsx';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { SecretsDialog } from '../../parts/dialogs/secrets-dialog.tsx';
import { notifyDone, notifyProblem } from '../../parts/notify.ts';
import { Section } from '../../parts/page.tsx';
import { FormProblem, Note } from '../../parts/states.tsx';
import { Copyable } from '../../parts/values/copyable.tsx';
import { QrCode } from '../../parts/values/qr-code.tsx';
import { Tag } from '../../parts/values/status.tsx';
import { reloadSession, useSession } from '../../session/session.ts';
import { useTexts } from './texts.ts';

/** Below this number of recovery codes the page suggests new ones. */
const FEW_LEFT = 3;

export function TotpSection() {
  const t = useTexts();
  const { hasTotp, needsTotp, recoveryCodesLeft } = useSession();
  const [recoveryCodes, setRecoveryCodes] = useState<readonly string[]>();
  const replace = useMutation({
    mutationFn: () => api.post('/account/recovery-codes', {}),
    onSuccess: ({ recoveryCodes: codes }) => setRecoveryCodes(codes),
  });
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
      {hasTotp ? (
        <>
          <Group gap={12}>
            <Tag tone={recoveryCodesLeft < FEW_LEFT ? 'waiting' : 'neutral'}>
              {t('recoveryLeft', { count: recoveryCodesLeft })}
            </Tag>
            <Button variant="default" loading={replace.isPending} onClick={() => replace.mutate()}>
              {t('recoveryReplace')}
            </Button>
          </Group>
          <p className="quiet small">{t('recoveryHint')}</p>
        </>
      ) : null}
      <FormProblem error={begin.error ?? replace.error} />
      {begin.data ? <Confirmation begun={begin.data} onClose={begin.reset} onDone={setRecoveryCodes} /> : null}
      {recoveryCodes ? (
        <SecretsDialog
          title={t('recoveryTitle')}
          fileName="recovery-codes.txt"
          secrets={recoveryCodes.map((code, at) => [`code${at + 1}`, t('recoveryCode', { number: at + 1 }), code])}
          onClose={() => {
            setRecoveryCodes(undefined);
            void reloadSession();
          }}
        />
      ) : null}
      {isRemoving ? <Removal onClose={() => setRemoving(false)} /> : null}
    </Section>
  );
}

/** Removes the second factor. Asks for a code, so that the password alone is not enough. */
function Removal({ onClose }: { onClose(): void }) {
  const t = useTexts();
  const [code, setCode] = useState('');
  return (
    <ConfirmDialog
      isOpen
      title={t('removeTitle')}
      verb={t('remove')}
      isDangerous
      isIncomplete={code.trim().length < 6}
      onConfirm={async () => {
        await api.post('/account/totp/remove', { code: code.replaceAll(' ', '') });
        await reloadSession();
        notifyDone(t('removed'));
      }}
      onClose={onClose}
    >
      <p>{t('removeHint')}</p>
      <CodeField label={t('removeCode')} description={t('removeCodeHint')} isLong value={code} onChange={setCode} />
    </ConfirmDialog>
  );
}

/** Activates the secret after the operator has typed a code from it, so that a failed scan locks nobody out. */
function Confirmation({
  begun,
  onClose,
  onDone,
}: {
  readonly begun: TotpBegun;
  onClose(): void;
  onDone(recoveryCodes: readonly string[]): void;
}) {
  const t = useTexts();
  const [code, setCode] = useState('');
  const digits = code.replace(/\D/g, '');
  return (
    <FormDialog
      title={t('setUp')}
      verb={t('confirm')}
      isIncomplete={digits.length !== 6}
      onClose={() => {
        onClose();
        api.delete('/account/totp', {}).catch(notifyProblem);
      }}
      onSubmit={async () => {
        // The session is reloaded when the recovery codes are stored, because a session that needs no codes any more
        // gets another frame, which would drop the dialog.
        const { recoveryCodes } = await api.put('/account/totp', { code: digits });
        notifyDone(t('codesDone'));
        onClose();
        onDone(recoveryCodes);
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
  readonly isLong?: boolean;
  readonly value: string;
  onChange(value: string): void;
}

/** A field for six digits, which may be typed with a space in the middle, or for a recovery code if `isLong`. */
function CodeField({ onChange, isLong = false, ...more }: CodeFieldProps) {
  return (
    <TextInput
      {...more}
      inputMode={isLong ? 'text' : 'numeric'}
      autoComplete="one-time-code"
      maxLength={isLong ? 24 : 9}
      onChange={(event) => onChange(event.currentTarget.value)}
      styles={{ input: { fontSize: '1.125rem', letterSpacing: '0.2em' } }}
      classNames={{ input: 'figures' }}
      data-autofocus
    />
  );
}
