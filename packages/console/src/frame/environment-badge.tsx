import type { Session } from '../api/types.ts';
import { dictionary } from '../i18n/dictionary.ts';
import { Tag } from '../parts/values/status.tsx';

const useTexts = dictionary({
  sandbox: ['Sandbox', '沙箱环境'],
  production: ['Live', '生产环境'],
});

/** Shows whether the installation moves real money. */
export function EnvironmentBadge({ environment }: Pick<Session, 'environment'>) {
  const t = useTexts();
  return <Tag tone={environment === 'sandbox' ? 'waiting' : 'neutral'}>{t(environment)}</Tag>;
}
