import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';

/** The filters of a page as they are in its URL. */
export type Filters<Name extends string> = { readonly [Each in Name]?: string };

/** Returns a route's `validateSearch`: keeps the filters that the page knows and drops all others. */
export const filtersOf =
  <const Name extends string>(names: readonly Name[]) =>
  (search: Readonly<Record<string, unknown>>): Filters<Name> =>
    pick(names, search);

function pick<Name extends string>(names: readonly Name[], search: Readonly<Record<string, unknown>>): Filters<Name> {
  const given = names.flatMap((name) => {
    const value = search[name];
    return typeof value === 'string' && value !== '' ? [[name, value] as const] : [];
  });
  return Object.fromEntries(given) as Filters<Name>;
}

export interface FilterControl<Name extends string> {
  readonly values: Filters<Name>;
  /** The number of filters set. */
  readonly count: number;
  /** Sets filters. An empty or absent value removes the filter. */
  set(changes: { readonly [Each in Name]?: string | undefined | null }): void;
  clear(): void;
}

/** Keeps filters in the URL, so that a filtered list can be shared and Back restores it. */
export function useFilters<const Name extends string>(names: readonly Name[]): FilterControl<Name> {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const navigate = useNavigate();
  const known = names.join();
  const values = useMemo(() => pick(known.split(',') as Name[], search), [known, search]);
  const change = useCallback(
    (changes: Readonly<Record<string, unknown>>) => {
      // The cast is needed because each page has different filters in its URL. `names` limits them to the filters of
      // this page.
      void navigate({ to: '.', search: ((old: object) => ({ ...old, ...changes })) as never, replace: true });
    },
    [navigate],
  );
  return {
    values,
    count: Object.keys(values).length,
    set: (changes) =>
      change(Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, value || undefined]))),
    clear: () => change(Object.fromEntries(known.split(',').map((name) => [name, undefined]))),
  };
}
