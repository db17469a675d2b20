import { Button, Divider, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { addressOf } from '../../api/client.ts';
import { isProblem } from '../../api/problem.ts';
import { now } from '../../clock.ts';
import { EnvironmentBadge } from '../../frame/environment-badge.tsx';
import { Outside } from '../../frame/outside.tsx';
import { PasswordField } from '../../parts/password-field.tsx';
import { FormProblem, Problem } from '../../parts/states.tsx';
import { durationText } from '../../parts/time-text.ts';
import { signIn, signInWaysQuery } from '../../session/session.ts';
import styles from './sign-in.module.css';
import { useTexts } from './texts.ts';

export default function SignInPage() {
  const t = useTexts();
  const { to, problem } = useSearch({ from: '/sign-in' });
  const ways = useQuery(signInWaysQuery);
  const badge = ways.data ? <EnvironmentBadge environment={ways.data.environment} /> : null;
  return (
    <Outside title={t('title')} badge={badge}>
      {problem ? <p className={styles.note}>{t('refusedBySingleSignOn')}</p> : null}
      {to && to !== '/' && !problem ? <p className={styles.note}>{t('ended')}</p> : null}
      <SignInForm returnTo={pathWithin(to)} />
      {ways.data?.oidc ? (
        <>
          <Divider label={t('or')} my="md" />
          <Button
            component="a"
            href={addressOf('/single-sign-on', { returnTo: pathWithin(to) })}
            variant="default"
            fullWidth
            size="md"
          >
            {ways.data.oidcName ? t('singleSignOn', { name: ways.data.oidcName }) : t('singleSignOnPlain')}
          </Button>
        </>
      ) : null}
      <p className={styles.foot}>{t('forgotten')}</p>
    </Outside>
  );
}

/** Only a page of the console is come back to: an address from elsewhere leads to the overview. */
const pathWithin = (to: string | undefined): string => (to && /^\/(?![/\\])/.test(to) ? to : '/');

function SignInForm({ returnTo }: { readonly returnTo: string }) {
  const t = useTexts();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [needsCode, setNeedsCode] = useState(false);
  const [lockedUntil, setLockedUntil] = useState(0);
  const secondsLeft = useSecondsUntil(lockedUntil);
  const go = useMutation({
    mutationFn: () => signIn({ name: name.trim(), password, ...(needsCode ? { code: code.replace(/\s/g, '') } : {}) }),
    onSuccess: () => navigate({ href: returnTo, replace: true }),
    onError: (error) => {
      if (isProblem(error) && error.kind === 'code-needed') setNeedsCode(true);
      if (isProblem(error, 429)) setLockedUntil(now() + (error.retryAfterSeconds ?? 60) * 1000);
    },
  });
  const { error } = go;
  const isLocked = secondsLeft > 0;
  const isExpected = isProblem(error, 401, 429);
  const isWrong = isProblem(error, 401) && error.kind !== 'code-needed';
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (!isLocked) go.mutate();
      }}
    >
      <TextInput
        label={t('name')}
        size="md"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus
        required
        withAsterisk={false}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <PasswordField
        label={t('password')}
        size="md"
        autoComplete="current-password"
        required
        withAsterisk={false}
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
      {needsCode ? (
        <TextInput
          label={t('code')}
          description={t('codeHint')}
          size="md"
          inputMode="numeric"
          autoComplete="one-time-code"
          autoFocus
          required
          withAsterisk={false}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
          classNames={{ input: 'figures' }}
        />
      ) : null}
      {isLocked ? <Problem>{t('locked', { time: durationText(secondsLeft) })}</Problem> : null}
      {!isLocked && isProblem(error, 429) ? <p className={styles.note}>{t('unlocked')}</p> : null}
      {isWrong ? <Problem>{needsCode ? t('wrongCode') : t('wrong')}</Problem> : null}
      {isExpected ? null : <FormProblem error={error} />}
      <Button type="submit" size="md" loading={go.isPending} disabled={isLocked}>
        {t('title')}
      </Button>
    </form>
  );
}

/** Counts down, once a second, to a moment. */
function useSecondsUntil(moment: number): number {
  const left = () => Math.max(0, Math.ceil((moment - now()) / 1000));
  const [seconds, setSeconds] = useState(left);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `left` is made of the moment alone
  useEffect(() => {
    setSeconds(left());
    if (left() === 0) return;
    const timer = setInterval(() => setSeconds(left()), 1000);
    return () => clearInterval(timer);
  }, [moment]);
  return seconds;
}
