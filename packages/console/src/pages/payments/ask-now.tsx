import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { RefreshIcon } from '../../icons/icons.tsx';
import { notifyDone, notifyProblem } from '../../parts/notify.ts';
import { countText } from '../../parts/values/money.tsx';
import { useMayDo } from '../../session/session.ts';
import { useTexts } from './texts.ts';

type Kind = 'payments' | 'refunds';

/** Brings forward the queries to the institution, and shows how many. */
function useAsk(of: Kind) {
  const t = useTexts();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (what: Readonly<Record<string, string | undefined>>) => api.post(`/${of}/ask`, what),
    onSuccess: ({ asked, left }) => {
      const begun =
        asked === 0 ? t('askingSoon') : asked === 1 ? t('asking') : t('askingMany', { count: countText(asked) });
      notifyDone(left > 0 ? `${begun} ${t('askedLeft', { count: countText(left) })}` : begun);
      void queries.invalidateQueries({ queryKey: [`/${of}`] });
    },
    onError: notifyProblem,
  });
}

export function AskOne({ of, number }: { readonly of: Kind; readonly number: string }) {
  const t = useTexts();
  const ask = useAsk(of);
  return (
    <Button
      variant="default"
      size="compact-xs"
      aria-label={t('askOne', { number })}
      loading={ask.isPending}
      onClick={() => ask.mutate({ number })}
    >
      {t('askNow')}
    </Button>
  );
}

interface AskAllProps {
  readonly of: Kind;
  readonly filters: Readonly<Record<string, string | undefined>>;
  readonly rows: readonly unknown[] | undefined;
}

/** Asks about all matching rows without a final result. Shown while the list has only such rows. */
export function AskAll({ of, filters: { status, ...filter }, rows = [] }: AskAllProps) {
  const t = useTexts();
  const ask = useAsk(of);
  const mayAsk = useMayDo(['support', 'finance']);
  if (!mayAsk || status !== 'STARTED' || rows.length === 0) return null;
  return (
    <Button
      variant="default"
      leftSection={<RefreshIcon size={16} />}
      loading={ask.isPending}
      onClick={() => ask.mutate(filter)}
    >
      {t('askAll')}
    </Button>
  );
}
