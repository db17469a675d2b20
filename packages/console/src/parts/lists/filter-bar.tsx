import { Button, Group, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { type ReactNode, useEffect, useState } from 'react';
import type { FilterControl } from '../../address/filters.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { SearchIcon } from '../../icons/icons.tsx';
import styles from './filter-bar.module.css';

interface FilterBarProps {
  /** The number of filters set, and the function that clears them. A button calls it if a filter is set. */
  readonly filters: Pick<FilterControl<string>, 'count' | 'clear'>;
  readonly children: ReactNode;
  /** Shown at the right: an export or a count. */
  readonly aside?: ReactNode;
}

/** The line of filters above a list. */
export function FilterBar({ filters, children, aside }: FilterBarProps) {
  const t = useCommonTexts();
  return (
    <Group component="search" gap={8}>
      {children}
      {filters.count > 0 ? (
        <Button variant="subtle" color="gray" size="xs" onClick={filters.clear}>
          {t('clearFilters')}
        </Button>
      ) : null}
      {aside ? <div className={styles.aside}>{aside}</div> : null}
    </Group>
  );
}

interface FieldProps {
  readonly label: string;
  readonly value: string | undefined;
  onChange(value: string | undefined): void;
}

/** A text filter that applies shortly after the last key press, or immediately on Enter. */
export function TextFilter({ label, value = '', onChange }: FieldProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const changeLater = useDebouncedCallback((given: string) => onChange(given.trim() || undefined), 400);
  return (
    <TextInput
      className={styles.field ?? ''}
      size="xs"
      aria-label={label}
      placeholder={label}
      leftSection={<SearchIcon size={14} />}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value);
        changeLater(event.currentTarget.value);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') onChange(text.trim() || undefined);
      }}
      spellCheck={false}
    />
  );
}

interface ChoiceProps extends FieldProps {
  readonly choices: readonly { readonly value: string; readonly label: string }[];
}

/** A filter with a few choices. Its label is the placeholder. */
export function ChoiceFilter({ label, value, choices, onChange }: ChoiceProps) {
  return (
    <Select
      className={styles.field ?? ''}
      size="xs"
      aria-label={label}
      placeholder={label}
      data={[...choices]}
      value={value ?? null}
      onChange={(chosen) => onChange(chosen ?? undefined)}
      clearable
      searchable={choices.length > 8}
      comboboxProps={{ width: 'max-content', position: 'bottom-start' }}
    />
  );
}
