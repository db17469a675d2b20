import { Button, Modal, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { addressOf } from '../api/client.ts';
import { dictionary } from '../i18n/dictionary.ts';
import { useIsTopmost } from '../parts/dialogs/open-dialogs.ts';
import { useOpenerFocus } from '../parts/dialogs/opener-focus.ts';
import { signInQuestion } from '../session/identity-questions.ts';
import { forgetSession, signInAgain, signInWaysQuery, useResumption, useSession } from '../session/session.ts';
import { SignInForm } from './sign-in-form.tsx';

const useTexts = dictionary({
  title: ['Your session has expired', '登录已过期'],
  why: ['Sign in to continue. Your entries on this page are kept.', '重新登录后可继续操作，已填写的内容不会丢失。'],
  singleSignOn: ['Sign in with {name} in a new tab', '在新标签页使用 {name} 登录'],
  singleSignOnPlain: ['Single sign-on in a new tab', '在新标签页单点登录'],
  other: ['Sign in with another account', '使用其他账号登录'],
});

/**
 * Asks the operator to sign in again after their session has ended, then repeats the refused requests. Until then the
 * page behind the dialog is hidden, but keeps what the operator typed.
 */
export function SessionExpiredDialog() {
  const t = useTexts();
  const [isAsked, setAsked] = useState(false);
  useEffect(() => signInQuestion.listen(setAsked), []);
  useOpenerFocus(isAsked);
  // Registers this dialog as the topmost, so that Escape does not close a dialog behind it.
  useIsTopmost(isAsked, 2);
  return (
    <Modal
      opened={isAsked}
      onClose={() => undefined}
      title={t('title')}
      size="sm"
      closeOnEscape={false}
      closeOnClickOutside={false}
      withCloseButton={false}
      // Above every other dialog.
      zIndex={500}
      overlayProps={{ backgroundOpacity: 1, color: 'var(--ground)' }}
    >
      <Question />
    </Modal>
  );
}

function Question() {
  const t = useTexts();
  const { name, hasPassword } = useSession();
  const { data: ways } = useQuery(signInWaysQuery);
  const navigate = useNavigate();
  const { href } = useLocation();
  useResumption(() => signInQuestion.settle(true));
  const leave = async () => {
    await navigate({ to: '/sign-in', search: { to: href } });
    forgetSession();
  };
  const other = (
    <Button variant="subtle" size="compact-sm" onClick={() => void leave()}>
      {t('other')}
    </Button>
  );
  return (
    <Stack gap={14}>
      <p className="quiet small">{t('why')}</p>
      {hasPassword || !ways?.oidc ? (
        <SignInForm
          person={name}
          onSignIn={async (request) => {
            await signInAgain(request);
            signInQuestion.settle(true);
          }}
        />
      ) : null}
      {ways?.oidc ? (
        <Button
          component="a"
          href={addressOf('/single-sign-on', { returnTo: '/' })}
          target="_blank"
          variant="default"
          size="md"
        >
          {ways.oidcName ? t('singleSignOn', { name: ways.oidcName }) : t('singleSignOnPlain')}
        </Button>
      ) : null}
      {other}
    </Stack>
  );
}
