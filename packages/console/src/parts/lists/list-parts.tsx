import { Box, Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { FilterControl } from '../../address/filters.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { Empty } from '../states.tsx';

const useTexts = dictionary({
  fewerFilters: ['Remove a filter or widen the date range.', '请减少筛选条件或扩大日期范围。'],
});

/** Returns the props of a field for one of the filters. */
export const filterField = <Name extends string>({ values, set }: FilterControl<Name>, name: Name) => ({
  value: values[name],
  onChange: (value: string | undefined) => set({ [name]: value } as Parameters<typeof set>[0]),
});

/** Returns the props of toggles for one filter. A second press on a toggle clears the filter. */
export const filterToggles = <Name extends string>({ values, set }: FilterControl<Name>, name: Name) => ({
  isSingle: true,
  selected: [values[name] ?? []].flat(),
  onChange: ([chosen]: readonly string[]) =>
    set({ [name]: chosen === values[name] ? undefined : chosen } as Parameters<typeof set>[0]),
});

interface EmptyListProps {
  readonly filters: Pick<FilterControl<string>, 'count' | 'clear'>;
  t(key: 'empty' | 'emptyHint' | 'emptyFiltered'): string;
  /** Advice that is shown when no row matches. */
  readonly hint?: string;
}

/** Says that a list is empty, or that no row matches its filters. */
export function EmptyList({ filters, t, hint }: EmptyListProps) {
  const common = useCommonTexts();
  const own = useTexts();
  if (filters.count === 0) return <Empty title={t('empty')} hint={t('emptyHint')} />;
  return (
    <Empty isFiltered title={t('emptyFiltered')} hint={hint ?? own('fewerFilters')}>
      <Button variant="default" onClick={filters.clear}>
        {common('clearFilters')}
      </Button>
    </Empty>
  );
}

type Fact = readonly [name: string, value: ReactNode];

/** Returns the facts that have a value. */
export const known = (facts: readonly Fact[]): readonly Fact[] => facts.filter(([, value]) => value);

/** A link to an order, with the order number or the given text. */
export function OrderLink({ orderNo, children }: { readonly orderNo: string; readonly children?: ReactNode }) {
  return (
    <Link to="/orders/$orderNo" params={{ orderNo }} className="figures">
      {children ?? orderNo}
    </Link>
  );
}

interface FigureProps {
  readonly size: string;
  readonly c?: string;
  readonly children: ReactNode;
}

/** A prominent figure. */
export function Figure({ size, children, ...rest }: FigureProps) {
  return (
    <Box component="span" className="figures" fz={size} fw={600} lh={1.3} lts="-0.015em" {...rest}>
      {children}
    </Box>
  );
}

const SUMS = { gridTemplateColumns: 'repeat(auto-fit, minmax(120px, max-content))', gap: '12px 44px' };

/** The totals of an order or a user, in a line, or in columns on a phone. */
export function Sums({ sums }: { readonly sums: readonly Fact[] }) {
  return (
    <Box component="dl" display="grid" style={SUMS}>
      {sums.map(([name, value]) => (
        <div key={name}>
          <dt className="quiet tiny">{name}</dt>
          <dd>
            <Figure size="1.25rem">{value}</Figure>
          </dd>
        </div>
      ))}
    </Box>
  );
}
