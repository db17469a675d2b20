import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Broken, LoadingRows } from './states.tsx';

interface LoadedProps<Answer> {
  readonly query: UseQueryResult<Answer>;
  /** What is shown while loading. Default: placeholder rows of a list. */
  readonly meanwhile?: ReactNode;
  children(answer: Answer): ReactNode;
}

/** Renders one query in all its states: loading, failed and loaded. */
export function Loaded<Answer>({ query, meanwhile = <LoadingRows />, children }: LoadedProps<Answer>) {
  if (query.data !== undefined) return children(query.data);
  return query.error ? <Broken error={query.error} onRetry={() => void query.refetch()} /> : meanwhile;
}
