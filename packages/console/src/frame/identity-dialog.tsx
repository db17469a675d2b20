import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { addressOf, api } from '../api/client.ts';
import { isProblem } from '../api/problem.ts';
import type { ProofRequest, Session } from '../api/types.ts';
import { useCommonTexts } from '../i18n/common.ts';
import { dictionary } from '../i18n/dictionary.ts';
import { Dialog } from '../parts/dialogs/dialog.tsx';
import { PasswordField } from '../parts/fields/password-field.tsx';
import { FormProblem, Problem } from '../parts/states.tsx';
import { identityQuestion } from '../session/identity-questions.ts';
import { takeSession, useResumption, useSession } from '../session/session.ts';

const useTexts = dictionary({
  title: ['Confirm your identity', '身份验证'],
  why: [
    'Actions that move money, reveal personal data or a secret, or change a setting or an account need this. You will not be asked again for five minutes.',
    '涉及资金、密钥、个人信息、配置或账号的操作需验证身份，5 分钟内无需重复验证。',
  ],
  password: ['Password', '密码'],
  code: ['Authenticator code', '身份验证器动态码'],
  codeHint: ['Six digits, or a recovery code', '6 位数字，或备用验证码'],
  wrongPassword: ['The password is wrong.', '密码错误。'],
  wrongCode: ['The code is wrong or already used.', '动态码错误或已使用。'],
  wrongEither: [
    'The password or the code is wrong, or the code was already used.',
    '密码或动态码错误，或动态码已使用。',
  ],
  go: ['Continue', '继续'],
  bySingleSignOn: [
    'You have no password here. Sign in at your identity provider again in a new tab, then return to this tab.',
    '您没有设置密码，请在新标签页中重新通过单点登录验证，然后返回此页。',
  ],
  singleSignOn: ['Confirm in a new tab', '在新标签页中验证'],
});

/** Asks the operator to confirm their identity, and then continues the operation that needs it. */
export function IdentityDialog() {
  const t = useTexts();
  const [isAsked, setAsked] = useState(false);
  useEffect(() => identityQuestion.listen(setAsked), []);
  return (
    <Dialog isOpen={isAsked} onClose={() => identityQuestion.settle(false)} title={t('title')} size="sm" isOnTop>
      <Question />
    </Dialog>
  );
}

function Question() {
  const t = useTexts();
  const common = useCommonTexts();
  const { hasTotp, hasPassword, name } = useSession();
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const proof: ProofRequest = {
    ...(hasPassword ? { password } : {}),
    ...(hasTotp ? { code: code.replace(/\s/g, '') } : {}),
  };
  const prove = useMutation({
    mutationFn: () => api.session<Session>('POST', '/session/proof', proof),
    onSuccess: (session) => {
      takeSession(session);
      identityQuestion.settle(true);
    },
  });
  if (!hasPassword && !hasTotp) return <SingleSignOn />;
  return (
    <Stack
      component="form"
      gap={14}
      onSubmit={(event) => {
        event.preventDefault();
        prove.mutate();
      }}
    >
      <p className="quiet small">{t('why')}</p>
      {/* Tells a password manager whose password it is. */}
      <input className="only-read" autoComplete="username" value={name} readOnly tabIndex={-1} aria-hidden="true" />
      {hasPassword ? (
        <PasswordField
          label={t('password')}
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          data-autofocus
        />
      ) : null}
      {hasTotp ? (
        <TextInput
          label={t('code')}
          description={t('codeHint')}
          autoComplete="one-time-code"
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
          classNames={{ input: 'figures' }}
          data-autofocus={!hasPassword || undefined}
        />
      ) : null}
      {isProblem(prove.error, 401) ? (
        <Problem>{t(hasPassword && hasTotp ? 'wrongEither' : hasTotp ? 'wrongCode' : 'wrongPassword')}</Problem>
      ) : (
        <FormProblem error={prove.error} />
      )}
      <Group gap={8} justify="flex-end">
        <Button variant="default" onClick={() => identityQuestion.settle(false)}>
          {common('cancel')}
        </Button>
        <Button type="submit" disabled={Object.values(proof).includes('')} loading={prove.isPending}>
          {t('go')}
        </Button>
      </Group>
    </Stack>
  );
}

/**
 * Asks an operator with neither a password nor codes to sign in at the identity provider again, in another tab. That
 * sign-in begins a session with a confirmed identity.
 */
function SingleSignOn() {
  const t = useTexts();
  const { provenUntil } = useSession();
  const [before] = useState(provenUntil);
  useResumption(() => undefined);
  useEffect(() => {
    if (provenUntil !== before) identityQuestion.settle(true);
  }, [provenUntil, before]);
  return (
    <Stack gap={14}>
      <p className="quiet small">{t('bySingleSignOn')}</p>
      <Button
        component="a"
        href={addressOf('/single-sign-on', { prove: true, returnTo: '/' })}
        target="_blank"
        variant="default"
        size="md"
      >
        {t('singleSignOn')}
      </Button>
    </Stack>
  );
}
