import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { dictionary } from '../../i18n/dictionary.ts';
import { FilterIcon } from '../../icons/icons.tsx';
import { useIsPhone } from '../use-is-phone.ts';

const useTexts = dictionary({
  filters: ['Filters', '筛选'],
  filtersSet: ['Filters, {count} set', '筛选（已设 {count} 项）'],
});

interface FoldedFiltersProps {
  /** The number of filters set. */
  readonly count: number;
  readonly children: ReactNode;
}

/** Filters that a phone shows only after a press on a button, because they would fill half of its screen. */
export function FoldedFilters({ count, children }: FoldedFiltersProps) {
  const t = useTexts();
  const isPhone = useIsPhone();
  const [isOpen, open] = useDisclosure(false);
  if (!isPhone) return children;
  return (
    <>
      <Button
        variant="default"
        size="xs"
        leftSection={<FilterIcon size={15} />}
        aria-expanded={isOpen}
        onClick={open.toggle}
        w="max-content"
      >
        {count > 0 ? t('filtersSet', { count }) : t('filters')}
      </Button>
      {isOpen ? children : null}
    </>
  );
}
