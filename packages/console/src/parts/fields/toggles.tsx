import { Button, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import styles from './toggles.module.css';

interface Choice {
  readonly value: string;
  readonly label: string;
  /** The number of rows that the choice selects. */
  readonly count?: number | undefined;
}

interface TogglesProps {
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly selected: readonly string[];
  /** Set if only one toggle can be pressed at a time. */
  readonly isSingle?: boolean;
  onChange(selected: readonly string[]): void;
  readonly children?: ReactNode;
}

/** A row of toggle buttons for a list's most used filters. */
export function Toggles({ label, choices, selected, isSingle, onChange, children }: TogglesProps) {
  const toggle = (value: string) => {
    if (isSingle) return onChange([value]);
    onChange(selected.includes(value) ? selected.filter((one) => one !== value) : [...selected, value]);
  };
  return (
    <div className={styles.row} role="toolbar" aria-label={label}>
      {choices.map(({ value, label: text, count }) => (
        <Button
          key={value}
          variant={selected.includes(value) ? 'light' : 'default'}
          size="xs"
          radius="xl"
          px={11}
          flex="none"
          aria-pressed={selected.includes(value)}
          onClick={() => toggle(value)}
        >
          {text}
          {count === undefined ? null : (
            <Text span className="figures" ms={6} fz="xs">
              {count}
            </Text>
          )}
        </Button>
      ))}
      {children}
    </div>
  );
}
