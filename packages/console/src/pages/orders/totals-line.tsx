import { Button, Skeleton } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { api } from '../../api/client.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { DownloadIcon } from '../../icons/icons.tsx';
import { countText, moneyText } from '../../parts/money.tsx';
import { notifyDone, notifyProblem } from '../../parts/notify.ts';
import { exportOrders } from './export-orders.ts';
import styles from './orders.module.css';
import { useTexts } from './texts.ts';

type Filter = Readonly<Record<string, string | undefined>>;

export const useTotals = (filter: Filter) =>
  useQuery({
    queryKey: ['/orders/totals', filter],
    queryFn: ({ signal }) => api.get('/orders/totals', filter, signal),
    placeholderData: keepPreviousData,
  });

/** How many match and what they come to, with the export of all of them. */
export function TotalsLine({ filter }: { readonly filter: Filter }) {
  const t = useTexts();
  const common = useCommonTexts();
  const { data, error, refetch } = useTotals(filter);
  return (
    <div className={styles.totals} aria-live="polite">
      {data ? (
        <>
          <strong className="figures">
            {data.isAtLeast
              ? t('totalAtLeast', { count: countText(data.count) })
              : t('totalOrders', { count: countText(data.count) })}
          </strong>
          <span className="figures">{t('totalPaid', { amount: moneyText(data.totalPaidAmountCent) })}</span>
          <span className="figures">{t('totalRefunded', { amount: moneyText(data.totalRefundAmountCent) })}</span>
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
    </div>
  );
}

interface ExportProps {
  readonly filter: Filter;
  /** When it is known. */
  readonly total: number | undefined;
  readonly isEmpty: boolean;
}

function Export({ filter, total, isEmpty }: ExportProps) {
  const t = useTexts();
  const [exported, setExported] = useState<number>();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const begin = async () => {
    const controller = new AbortController();
    running.current = controller;
    setExported(0);
    try {
      const count = await exportOrders(filter, setExported, controller.signal);
      notifyDone(t('exportDone', { count: countText(count) }));
    } catch (error) {
      if (!controller.signal.aborted) notifyProblem(error);
    } finally {
      setExported(undefined);
    }
  };
  if (exported === undefined)
    return (
      <span className={styles.export}>
        <Button
          variant="default"
          size="xs"
          leftSection={<DownloadIcon size={15} />}
          disabled={isEmpty}
          onClick={() => void begin()}
        >
          {t('export')}
        </Button>
      </span>
    );
  const progress = total === undefined ? {} : { value: Math.min(exported, total), max: total };
  return (
    <span className={styles.export} role="status">
      <progress className={styles.bar} aria-label={t('export')} {...progress} />
      <span className="figures quiet">
        {total === undefined
          ? t('exporting', { count: countText(exported) })
          : t('exportingOf', { count: countText(exported), total: countText(total) })}
      </span>
      <Button variant="default" size="xs" onClick={() => running.current?.abort()}>
        {t('exportStop')}
      </Button>
    </span>
  );
}
