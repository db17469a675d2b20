import { ChoiceFilter, TextFilter } from '../parts/lists/filter-bar.tsx';

interface NameFilterProps {
  readonly label: string;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
  readonly value: string | undefined;
  onChange(value: string | undefined): void;
}

/** A filter with a list of names, or with a text field for the code if no names are available. */
export function NameFilter(props: NameFilterProps) {
  return props.choices.length > 0 ? <ChoiceFilter {...props} /> : <TextFilter {...props} />;
}
