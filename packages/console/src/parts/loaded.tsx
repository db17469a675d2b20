import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Broken, LoadingRows } from './states.tsx';

interface LoadedProps<Answer> {
  readonly query: UseQueryResult<Answer>;
  /** What stands there meanwhile, when that is no list. */
  readonly meanwhile?: ReactNode;
  children(answer: Answer): ReactNode;
}

/** One answer in all its states: on its way, not come, and there. */
export function Loaded<Answer>({ query, meanwhile = <LoadingRows />, children }: LoadedProps<Answer>) {
  if (query.data !== undefined) return children(query.data);
  return query.error ? <Broken error={query.error} onRetry={() => void query.refetch()} /> : meanwhile;
}
