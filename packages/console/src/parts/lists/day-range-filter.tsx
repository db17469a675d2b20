import { lazy, Suspense } from 'react';
import styles from './filter-bar.module.css';

export interface DayRangeFilterProps {
  readonly label: string;
  /** The first day of the range, in the form 2026-01-31. */
  readonly from: string | undefined;
  /** The day after the last day of the range, as in the API. */
  readonly to: string | undefined;
  /** Set for a filter of future days: the preset ranges then begin today instead of ending today. */
  readonly isAhead?: boolean;
  onChange(range: { readonly from: string | undefined; readonly to: string | undefined }): void;
}

const DayRangePicker = lazy(() => import('./day-range-picker.tsx'));

/** A filter by days. Loads its calendar when it is shown, because a phone folds the filters. */
export function DayRangeFilter(props: DayRangeFilterProps) {
  return (
    <Suspense fallback={<span className={styles.field} />}>
      <DayRangePicker {...props} />
    </Suspense>
  );
}
