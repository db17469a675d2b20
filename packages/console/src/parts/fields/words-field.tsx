import { Textarea, type TextareaProps } from '@mantine/core';

interface WordsFieldProps extends Omit<TextareaProps, 'onChange'> {
  onChange(words: string): void;
}

/** What a person says in words: a reason, a note, a comment. */
export function WordsField({ onChange, ...rest }: WordsFieldProps) {
  const take = (event: { readonly currentTarget: HTMLTextAreaElement }) => onChange(event.currentTarget.value);
  return <Textarea w="100%" maxLength={200} autosize minRows={2} {...rest} onChange={take} />;
}
