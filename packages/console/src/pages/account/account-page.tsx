import { useRoleTexts } from '../../i18n/common.ts';
import { Page } from '../../parts/page.tsx';
import { Tag } from '../../parts/values/status.tsx';
import { useSession } from '../../session/session.ts';
import { OwnSessionsSection } from './own-sessions-section.tsx';
import { PasswordSection } from './password-section.tsx';
import { useTexts } from './texts.ts';
import { TotpSection } from './totp-section.tsx';

export default function AccountPage() {
  const t = useTexts();
  const roleText = useRoleTexts();
  const { name, role, needsTotp } = useSession();
  return (
    <Page title={t('title')} aside={<Tag tone="neutral">{`${name} · ${roleText(role)}`}</Tag>}>
      {needsTotp ? <TotpSection /> : null}
      <OwnSessionsSection />
      {needsTotp ? null : <TotpSection />}
      <PasswordSection />
    </Page>
  );
}
