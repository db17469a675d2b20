import type { BulkRun } from '../../api/order-types.ts';
import { countText } from '../../parts/money.tsx';
import styles from './bulk.module.css';
import { useTexts } from './texts.ts';

/** How many items of a run are done, pending, failed, skipped, and left. */
export function RunProgress({ run }: { readonly run: BulkRun }) {
  const t = useTexts();
  const { items, done, pending, failed, skipped } = run;
  const over = done + failed + skipped;
  const width = (count: number) => ({ width: `${items === 0 ? 0 : (count / items) * 100}%` });
  return (
    <span
      className={styles.progress}
      role="progressbar"
      aria-label={t('progress')}
      aria-valuemin={0}
      aria-valuemax={items}
      aria-valuenow={over}
      aria-valuetext={t('of', { done: countText(over), total: countText(items) })}
    >
      <span data-tone="positive" style={width(done)} />
      <span data-tone="waiting" style={width(pending)} />
      <span data-tone="negative" style={width(failed)} />
      <span data-tone="neutral" style={width(skipped)} />
    </span>
  );
}
