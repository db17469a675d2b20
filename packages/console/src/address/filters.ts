import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';

/** The filters of a page, as they stand in its address. */
export type Filters<Name extends string> = { readonly [Each in Name]?: string };

/** For `validateSearch` of a route: keeps the filters that the page knows, drops everything else. */
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
  /** How many are set. */
  readonly count: number;
  /** An empty or absent value takes a filter away. */
  set(changes: { readonly [Each in Name]?: string | undefined | null }): void;
  clear(): void;
}

/** Filters that live in the address, so that a filtered list can be sent to a colleague and found again by Back. */
export function useFilters<const Name extends string>(names: readonly Name[]): FilterControl<Name> {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const navigate = useNavigate();
  const known = names.join();
  const values = useMemo(() => pick(known.split(',') as Name[], search), [known, search]);
  const change = useCallback(
    (changes: Readonly<Record<string, unknown>>) => {
      // Another page's address has other filters; here they are known by the list of names.
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
