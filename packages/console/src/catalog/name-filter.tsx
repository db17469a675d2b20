import { ChoiceFilter, TextFilter } from '../parts/lists/filter-bar.tsx';

interface NameFilterProps {
  readonly label: string;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
  readonly value: string | undefined;
  onChange(value: string | undefined): void;
}

/** A choice by name; where the names are not to be had, a field for the code. */
export function NameFilter(props: NameFilterProps) {
  return props.choices.length > 0 ? <ChoiceFilter {...props} /> : <TextFilter {...props} />;
}
