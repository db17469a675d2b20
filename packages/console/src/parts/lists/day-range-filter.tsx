import { lazy, Suspense } from 'react';
import type { DayRangeFilterProps } from './day-range-picker.tsx';
import styles from './filter-bar.module.css';

const DayRangePicker = lazy(() => import('./day-range-picker.tsx'));

/** A filter by days. Loads its calendar when it is shown, because a phone folds the filters. */
export function DayRangeFilter(props: DayRangeFilterProps) {
  return (
    <Suspense fallback={<span className={styles.field} />}>
      <DayRangePicker {...props} />
    </Suspense>
  );
}
