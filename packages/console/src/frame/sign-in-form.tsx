import { Button, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { isProblem } from '../api/problem.ts';
import type { SignInRequest } from '../api/types.ts';
import { now } from '../clock.ts';
import { dictionary } from '../i18n/dictionary.ts';
import { PasswordField } from '../parts/fields/password-field.tsx';
import { FormProblem, Note, Problem } from '../parts/states.tsx';
import { durationText } from '../parts/values/time-text.ts';

const useTexts = dictionary({
  title: ['Sign in', '登录'],
  name: ['Name', '用户名'],
  password: ['Password', '密码'],
  code: ['Authenticator code', '身份验证器动态码'],
  codeHint: ['Six digits, or a recovery code', '6 位数字，或备用验证码'],
  wrong: ['Wrong name or password.', '用户名或密码错误。'],
  wrongCode: ['The code is wrong or already used.', '动态码错误或已使用。'],
  locked: ['Too many attempts. Try again in {time}.', '尝试次数过多，请在 {time}后重试。'],
  unlocked: ['You can sign in again now.', '现在可以重新登录。'],
});

interface SignInFormProps {
  /** The operator whose session has ended. If set, the name cannot be changed. */
  readonly person?: string;
  onSignIn(request: SignInRequest): Promise<void>;
  readonly children?: ReactNode;
}

/** Asks for a name and a password, and for a code if needed. `children` are shown above the button. */
export function SignInForm({ person, onSignIn, children }: SignInFormProps) {
  const t = useTexts();
  const [name, setName] = useState(person ?? '');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [needsCode, setNeedsCode] = useState(false);
  const [lockedUntil, setLockedUntil] = useState(0);
  const secondsLeft = useSecondsUntil(lockedUntil);
  const go = useMutation({
    mutationFn: () =>
      onSignIn({ name: name.trim(), password, ...(needsCode ? { code: code.replace(/\s/g, '') } : {}) }),
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
    <Stack
      component="form"
      gap={14}
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
        autoFocus={person === undefined}
        readOnly={person !== undefined}
        required
        withAsterisk={false}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <PasswordField
        label={t('password')}
        size="md"
        autoComplete="current-password"
        data-autofocus
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
      {!isLocked && isProblem(error, 429) ? <Note tone="progress">{t('unlocked')}</Note> : null}
      {isWrong ? <Problem>{needsCode ? t('wrongCode') : t('wrong')}</Problem> : null}
      {isExpected ? null : <FormProblem error={error} />}
      {children}
      <Button type="submit" size="md" loading={go.isPending} disabled={isLocked}>
        {t('title')}
      </Button>
    </Stack>
  );
}

/** Returns the seconds left until a moment, updated every second. */
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
