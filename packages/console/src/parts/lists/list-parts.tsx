import { Box, Button, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { FilterControl } from '../../address/filters.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { Empty } from '../states.tsx';

const useTexts = dictionary({
  fewerFilters: ['Remove a filter or widen the date range.', '请减少筛选条件或扩大日期范围。'],
});

/** For a field that is one of the filters. */
export const filterField = <Name extends string>({ values, set }: FilterControl<Name>, name: Name) => ({
  value: values[name],
  onChange: (value: string | undefined) => set({ [name]: value } as Parameters<typeof set>[0]),
});

/** For toggles of which one is pressed; a second press takes it back. */
export const filterToggles = <Name extends string>({ values, set }: FilterControl<Name>, name: Name) => ({
  isSingle: true,
  selected: [values[name] ?? []].flat(),
  onChange: ([chosen]: readonly string[]) =>
    set({ [name]: chosen === values[name] ? undefined : chosen } as Parameters<typeof set>[0]),
});

interface EmptyListProps {
  readonly filters: Pick<FilterControl<string>, 'count' | 'clear'>;
  t(key: 'empty' | 'emptyHint' | 'emptyFiltered'): string;
  /** What to do when nothing matches. */
  readonly hint?: string;
}

/** What a list says when it is empty: there is nothing, or nothing matches. */
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

/** Those facts that are known. */
export const known = (facts: readonly Fact[]): readonly Fact[] => facts.filter(([, value]) => value);

/** An order, by its number or by what it is called here. */
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

/** A figure that is seen first. */
export function Figure({ size, children, ...rest }: FigureProps) {
  return (
    <Box component="span" className="figures" fz={size} fw={600} lh={1.3} lts="-0.015em" {...rest}>
      {children}
    </Box>
  );
}

/** The sums of an order or a user, in a line. */
export function Sums({ sums }: { readonly sums: readonly Fact[] }) {
  return (
    <Group component="dl" gap="12px 44px" align="flex-start">
      {sums.map(([name, value]) => (
        <Box key={name} miw={120}>
          <dt className="quiet tiny">{name}</dt>
          <dd>
            <Figure size="1.25rem">{value}</Figure>
          </dd>
        </Box>
      ))}
    </Group>
  );
}
