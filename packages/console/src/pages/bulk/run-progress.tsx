import { Progress } from '@mantine/core';
import type { BulkRun } from '../../api/order-types.ts';
import { countText } from '../../parts/values/money.tsx';
import { useTexts } from './texts.ts';

/**
 * Shows how many items of a run succeeded, are pending, failed and were skipped. The rest of the bar, for all other
 * items, is empty.
 */
export function RunProgress({ run }: { readonly run: BulkRun }) {
  const t = useTexts();
  const { items, done, pending, failed, skipped } = run;
  const over = done + failed + skipped;
  const parts = { 'green.5': done, 'yellow.5': pending, 'var(--chart-2)': failed, 'var(--chart-3)': skipped };
  return (
    <Progress.Root
      size={6}
      transitionDuration={300}
      role="progressbar"
      aria-label={t('progress')}
      aria-valuemin={0}
      aria-valuemax={items}
      aria-valuenow={over}
      aria-valuetext={t('of', { done: countText(over), total: countText(items) })}
    >
      {Object.entries(parts).map(([color, count]) => (
        <Progress.Section key={color} withAria={false} color={color} value={(count / Math.max(1, items)) * 100} />
      ))}
    </Progress.Root>
  );
}
