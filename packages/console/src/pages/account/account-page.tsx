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
  const { name, role } = useSession();
  return (
    <Page title={t('title')} aside={<Tag tone="neutral">{`${name} · ${roleText(role)}`}</Tag>}>
      <OwnSessionsSection />
      <TotpSection />
      <PasswordSection />
    </Page>
  );
}
