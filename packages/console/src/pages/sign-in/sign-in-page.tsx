import { Button, Divider } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { addressOf } from '../../api/client.ts';
import { EnvironmentBadge } from '../../frame/environment-badge.tsx';
import { Outside } from '../../frame/outside.tsx';
import { SignInForm } from '../../frame/sign-in-form.tsx';
import { signIn, signInWaysQuery } from '../../session/session.ts';
import styles from './sign-in.module.css';
import { useTexts } from './texts.ts';

export default function SignInPage() {
  const t = useTexts();
  const navigate = useNavigate();
  const { to, problem } = useSearch({ from: '/sign-in' });
  const ways = useQuery(signInWaysQuery);
  const badge = ways.data ? <EnvironmentBadge environment={ways.data.environment} /> : null;
  return (
    <Outside title={t('title')} badge={badge}>
      {problem ? <p className={styles.note}>{t('refusedBySingleSignOn')}</p> : null}
      {to && to !== '/' && !problem ? <p className={styles.note}>{t('ended')}</p> : null}
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
      <p className={styles.foot}>{t('forgotten')}</p>
    </Outside>
  );
}

/** Only a page of the console is come back to: an address from elsewhere leads to the overview. */
const pathWithin = (to: string | undefined): string => (to && /^\/(?![/\\])/.test(to) ? to : '/');
