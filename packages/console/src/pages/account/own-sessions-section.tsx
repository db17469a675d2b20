import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { OwnSession } from '../../api/types.ts';
import { type Column, DataTable } from '../../parts/lists/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { notifyDone, notifyProblem } from '../../parts/notify.ts';
import { Section } from '../../parts/page.tsx';
import { Tag } from '../../parts/values/status.tsx';
import { Time } from '../../parts/values/time.tsx';
import { deviceOf } from './device-name.ts';
import { useTexts } from './texts.ts';

export function OwnSessionsSection() {
  const t = useTexts();
  const queries = useQueryClient();
  const found = useQuery({
    queryKey: ['/sessions'],
    queryFn: ({ signal }) => api.get('/sessions', {}, signal),
  });
  const end = useMutation({
    mutationFn: async (ended: readonly OwnSession[]) => {
      for (const { sessionId } of ended) await api.delete('/sessions/{sessionId}', { sessionId });
      return ended.length;
    },
    onSuccess: (count) => notifyDone(t('ended', { count })),
    onError: notifyProblem,
    onSettled: () => queries.invalidateQueries({ queryKey: ['/sessions'] }),
  });
  const sessions = found.data?.sessions ?? [];
  const others = sessions.filter(({ isThis }) => !isThis);
  const columns: readonly Column<OwnSession>[] = [
    {
      id: 'device',
      header: t('device'),
      grows: true,
      cell: ({ userAgent, isThis }) => {
        const device = deviceOf(userAgent);
        return (
          <span title={userAgent}>
            {device ? t('on', device) : t('unknownDevice')} {isThis ? <Tag tone="positive">{t('thisOne')}</Tag> : null}
          </span>
        );
      },
    },
    { id: 'address', header: t('address'), cell: ({ address }) => <span className="figures">{address}</span> },
    { id: 'since', header: t('since'), cell: ({ createdAt }) => <Time value={createdAt} /> },
    { id: 'lastSeen', header: t('lastSeen'), cell: ({ lastSeenAt }) => <Time value={lastSeenAt} as="ago" /> },
    {
      id: 'end',
      header: t('end'),
      hidesHeader: true,
      align: 'end',
      inCard: 'aside',
      cell: (session) =>
        session.isThis ? null : (
          <Button variant="default" size="compact-sm" disabled={end.isPending} onClick={() => end.mutate([session])}>
            {t('end')}
          </Button>
        ),
    },
  ];
  return (
    <Section
      title={t('sessions')}
      hint={t('sessionsHint')}
      actions={
        others.length > 1 ? (
          <Button variant="default" loading={end.isPending} onClick={() => end.mutate(others)}>
            {t('endOthers')}
          </Button>
        ) : null
      }
    >
      <Loaded query={found}>
        {() => (
          <DataTable caption={t('sessions')} columns={columns} rows={sessions} rowKey={({ sessionId }) => sessionId} />
        )}
      </Loaded>
    </Section>
  );
}
