import { Button, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { isNewPassword, NewPassword } from '../../parts/fields/new-password.tsx';
import { PasswordField } from '../../parts/fields/password-field.tsx';
import { notifyDone } from '../../parts/notify.ts';
import { Section } from '../../parts/page.tsx';
import { FormProblem } from '../../parts/states.tsx';
import { useSession } from '../../session/session.ts';
import { useTexts } from './texts.ts';

const EMPTY = { current: '', password: '', again: '' };

export function PasswordSection() {
  const t = useTexts();
  const { hasPassword, name } = useSession();
  const [values, setValues] = useState(EMPTY);
  const { current, password, again } = values;
  const change = useMutation({
    mutationFn: () => api.put('/account/password', { current, password }),
    onSuccess: () => {
      setValues(EMPTY);
      notifyDone(t('passwordChanged'));
    },
  });
  if (!hasPassword)
    return (
      <Section title={t('password')} hint={t('noPassword')}>
        {null}
      </Section>
    );
  return (
    <Section title={t('password')} hint={t('passwordHint')}>
      <Stack
        component="form"
        gap={14}
        maw={420}
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate();
        }}
      >
        {/* Tells a password manager whose password it is. */}
        <input className="only-read" autoComplete="username" value={name} readOnly tabIndex={-1} aria-hidden="true" />
        <PasswordField
          label={t('current')}
          autoComplete="current-password"
          value={current}
          onChange={(event) => setValues({ ...values, current: event.currentTarget.value })}
        />
        <NewPassword value={{ password, again }} onChange={(value) => setValues({ ...values, ...value })} />
        <FormProblem error={change.error} />
        <div>
          <Button
            type="submit"
            variant="default"
            disabled={current === '' || !isNewPassword({ password, again })}
            loading={change.isPending}
          >
            {t('changePassword')}
          </Button>
        </div>
      </Stack>
    </Section>
  );
}
