import { Button, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { api } from '../../api/client.ts';
import type { SetupAnswer } from '../../api/types.ts';
import { SignedOutFrame } from '../../frame/signed-out-frame.tsx';
import { isNewPassword, NewPassword } from '../../parts/fields/new-password.tsx';
import { FormProblem, Problem } from '../../parts/states.tsx';
import { useTexts } from './texts.ts';

/** The page that a one-time link opens. The token is after the # of the URL, because browsers do not send that part. */
export default function SetupPage() {
  const t = useTexts();
  const navigate = useNavigate();
  const [token] = useState(() => location.hash.slice(1));
  const [value, setValue] = useState({ password: '', again: '' });
  // Removes the token from the browser's history.
  useEffect(() => void navigate({ to: '/setup', hash: '', replace: true }), [navigate]);
  const set = useMutation({
    mutationFn: () => api.signIn<SetupAnswer>('POST', '/setup', { token, password: value.password }),
  });
  if (set.data)
    return (
      <SignedOutFrame title={t('done')}>
        <p>{t('doneHint', { name: set.data.name })}</p>
        <Button component={Link} to="/sign-in" size="md" fullWidth mt="md">
          {t('signIn')}
        </Button>
      </SignedOutFrame>
    );
  if (token === '')
    return (
      <SignedOutFrame title={t('title')}>
        <Problem>{t('incomplete')}</Problem>
      </SignedOutFrame>
    );
  return (
    <SignedOutFrame title={t('title')}>
      <Stack
        component="form"
        gap={14}
        onSubmit={(event) => {
          event.preventDefault();
          set.mutate();
        }}
      >
        <NewPassword value={value} onChange={setValue} size="md" />
        <FormProblem error={set.error} />
        <Button type="submit" size="md" disabled={!isNewPassword(value)} loading={set.isPending}>
          {t('verb')}
        </Button>
      </Stack>
    </SignedOutFrame>
  );
}
