import { Box, Button, Group, Progress, Skeleton } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api, download } from '../../api/client.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { DownloadIcon } from '../../icons/icons.tsx';
import { notifyDone, notifyProblem } from '../../parts/notify.ts';
import { countText, moneyText } from '../../parts/values/money.tsx';
import { useTexts } from './texts.ts';

type Filter = Readonly<Record<string, string | undefined>>;

export const useTotals = (filter: Filter) =>
  useQuery({
    queryKey: ['/orders/totals', filter],
    queryFn: ({ signal }) => api.get('/orders/totals', filter, signal),
    placeholderData: keepPreviousData,
  });

/** Shows the number of matching orders, their totals and the export. */
export function TotalsLine({ filter }: { readonly filter: Filter }) {
  const t = useTexts();
  const common = useCommonTexts();
  const { data, error, refetch } = useTotals(filter);
  return (
    <Group className="small figures" gap="4px 20px" mih={30} aria-live="polite">
      {data ? (
        <>
          <Box component="strong" fw={600}>
            {t(data.isAtLeast ? 'totalAtLeast' : 'totalOrders', { count: countText(data.count) })}
          </Box>
          <span>{t('totalPaid', { amount: moneyText(data.totalPaidAmountCent) })}</span>
          <span>{t('totalRefunded', { amount: moneyText(data.totalRefundAmountCent) })}</span>
          {data.isAtLeast ? <span className="quiet">{t('ofThose', { count: countText(data.count) })}</span> : null}
        </>
      ) : error ? (
        <span className="quiet">
          {t('totalsFailed')}{' '}
          <Button variant="subtle" size="compact-xs" onClick={() => void refetch()}>
            {common('retry')}
          </Button>
        </span>
      ) : (
        <Skeleton height={12} width={260} />
      )}
      <Export filter={filter} total={data && !data.isAtLeast ? data.count : undefined} isEmpty={data?.count === 0} />
    </Group>
  );
}

interface ExportProps {
  readonly filter: Filter;
  /** The total number of orders, if known. */
  readonly total: number | undefined;
  readonly isEmpty: boolean;
}

const NEW_LINE = 10;

/** Exports all matching orders as a file, with progress and a stop button. */
function Export({ filter, total, isEmpty }: ExportProps) {
  const t = useTexts();
  const [exported, setExported] = useState<number>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const begin = async () => {
    const controller = new AbortController();
    running.current = controller;
    // Starts at -1, because the first line is the header.
    let count = -1;
    const onPiece = (piece: Uint8Array) => {
      for (const byte of piece) if (byte === NEW_LINE) count += 1;
      setExported(Math.max(0, count));
    };
    setExported(0);
    try {
      await download('/orders.csv', filter, { signal: controller.signal, onPiece });
      notifyDone(t('exportDone', { count: countText(count) }));
    } catch (error) {
      if (!controller.signal.aborted) notifyProblem(error);
    } finally {
      setExported(undefined);
    }
  };
  if (exported === undefined)
    return (
      <Button
        variant="default"
        size="xs"
        ml="auto"
        leftSection={<DownloadIcon size={15} />}
        disabled={isEmpty}
        onClick={() => void begin()}
      >
        {t('export')}
      </Button>
    );
  const count = countText(exported);
  return (
    <Group gap={8} ml="auto" role="status">
      <Progress w={90} size={4} aria-label={t('export')} animated value={total ? (exported / total) * 100 : 100} />
      <span className="quiet">
        {total === undefined ? t('exporting', { count }) : t('exportingOf', { count, total: countText(total) })}
      </span>
      <Button variant="default" size="xs" onClick={() => running.current?.abort()}>
        {t('exportStop')}
      </Button>
    </Group>
  );
}
