import { Button, Divider, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { addressOf } from '../../api/client.ts';
import { EnvironmentBadge } from '../../frame/environment-badge.tsx';
import { SignInForm } from '../../frame/sign-in-form.tsx';
import { SignedOutFrame } from '../../frame/signed-out-frame.tsx';
import { Note } from '../../parts/states.tsx';
import { signIn, signInWaysQuery } from '../../session/session.ts';
import { useTexts } from './texts.ts';

export default function SignInPage() {
  const t = useTexts();
  const navigate = useNavigate();
  const { to, problem } = useSearch({ from: '/sign-in' });
  const ways = useQuery(signInWaysQuery);
  const badge = ways.data ? <EnvironmentBadge environment={ways.data.environment} /> : null;
  return (
    <SignedOutFrame title={t('title')} badge={badge}>
      {problem || (to && to !== '/') ? (
        <Note tone="progress" mb={14}>
          {t(problem ? 'refusedBySingleSignOn' : 'signInFirst')}
        </Note>
      ) : null}
      {navigator.cookieEnabled ? null : (
        <Note tone="negative" mb={14}>
          {t('cookiesBlocked')}
        </Note>
      )}
      <SignInForm
        onSignIn={async (request) => {
          await signIn(request);
          await navigate({ href: pathWithin(to), replace: true });
        }}
      />
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
      <Text mt={18} fz="sm" ta="center" c="dimmed">
        {t('forgotten')}
      </Text>
    </SignedOutFrame>
  );
}

/** Returns the page to open after signing in. URLs outside the console lead to the overview. */
const pathWithin = (to: string | undefined): string => (to && /^\/(?![/\\])/.test(to) ? to : '/');
