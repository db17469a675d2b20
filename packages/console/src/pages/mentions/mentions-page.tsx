import { Button, Group, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { Mention } from '../../api/order-types.ts';
import { usePages } from '../../api/use-pages.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { OrderLink } from '../../parts/lists/list-parts.tsx';
import { notifyProblem } from '../../parts/notify.ts';
import { Page } from '../../parts/page.tsx';
import { Broken, Empty, LoadingRows } from '../../parts/states.tsx';
import { Time } from '../../parts/values/time.tsx';

const useTexts = dictionary({
  title: ['Mentions', '提及我的'],
  order: ['Order {orderNo}', '订单 {orderNo}'],
  dismiss: ['Dismiss', '知道了'],
  empty: ['No unread mentions', '暂无未读'],
  emptyHint: [
    'Notes on orders that name you or your role with @ appear here.',
    '订单备注中 @ 您或您的角色时，会显示在这里。',
  ],
});

const MENTIONS = '/mentions';
const REFRESH_MS = 60_000;

/** The notes that mention the operator or their role, until the operator dismisses them. */
export default function MentionsPage() {
  const t = useTexts();
  const common = useCommonTexts();
  const list = usePages(MENTIONS, {}, ({ mentions }) => mentions, { refetchInterval: REFRESH_MS });
  return (
    <Page title={t('title')}>
      {!list.rows ? (
        list.error ? (
          <Broken error={list.error} onRetry={list.reload} />
        ) : (
          <LoadingRows />
        )
      ) : list.rows.length === 0 ? (
        <Empty title={t('empty')} hint={t('emptyHint')} />
      ) : (
        <Stack component="ul" gap={0} className="lined">
          {list.rows.map((mention) => (
            <Note key={mention.noteId} mention={mention} />
          ))}
        </Stack>
      )}
      {list.hasMore ? (
        <Button variant="default" loading={list.isLoadingMore} onClick={list.loadMore} mx="auto">
          {common('more')}
        </Button>
      ) : null}
    </Page>
  );
}

function Note({ mention: { noteId, orderNo, author, at, text } }: { readonly mention: Mention }) {
  const t = useTexts();
  const queries = useQueryClient();
  const dismiss = useMutation({
    mutationFn: () => api.post('/mentions/{noteId}/seen', { noteId }),
    onSuccess: () => queries.invalidateQueries({ queryKey: [MENTIONS] }),
    onError: notifyProblem,
  });
  return (
    <Group component="li" gap="8px 16px" py={12} wrap="nowrap" align="flex-start">
      <Stack gap={4} flex={1} miw={0}>
        <p style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>{text}</p>
        <span className="quiet tiny">
          {author} · <Time value={at} /> · <OrderLink orderNo={orderNo}>{t('order', { orderNo })}</OrderLink>
        </span>
      </Stack>
      <Button variant="default" size="xs" loading={dismiss.isPending} onClick={() => dismiss.mutate()}>
        {t('dismiss')}
      </Button>
    </Group>
  );
}
