import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/client.ts';
import { WAITING_KEY } from '../api/query-client.ts';
import type { WaitingCounts } from '../api/types.ts';
import { dictionary } from '../i18n/dictionary.ts';
import { countText } from '../parts/values/money.tsx';

const useTexts = dictionary({
  alerts: ['{count} open', '{count} 条未处理'],
  approvals: ['{count} waiting', '{count} 条待审批'],
  mentions: ['{count} unread', '{count} 条未读'],
  differences: ['{count} open', '{count} 条未关闭'],
  // Says "to be retried", because the page also lists payments that failed for good, which are not counted.
  failedPayments: ['{count} to be retried', '{count} 笔待重试'],
});

/** The largest count that is shown as it is. The service stops counting at 1000. */
const MOST = 999;

const REFRESH_MS = 60_000;

/** Shows how many items of a page wait for an operator. Renders nothing if the count is 0 or unknown. */
export function WaitingCount({ of }: { readonly of: keyof WaitingCounts }) {
  const t = useTexts();
  const { data } = useQuery({
    queryKey: [WAITING_KEY],
    queryFn: ({ signal }) => api.get('/waiting', {}, signal),
    refetchInterval: REFRESH_MS,
    staleTime: REFRESH_MS / 2,
  });
  const count = data?.[of] ?? 0;
  if (count === 0) return null;
  const text = count > MOST ? `${MOST}+` : countText(count);
  return (
    <Text span className="figures" title={t(of, { count: text })} fz="xs" fw={600} px={7} bdrs={9} bg="var(--hover)">
      <span aria-hidden>{text}</span>
      <span className="only-read">{t(of, { count: text })}</span>
    </Text>
  );
}
