import { Textarea, type TextareaProps } from '@mantine/core';

interface NoteFieldProps extends Omit<TextareaProps, 'onChange'> {
  onChange(words: string): void;
}

/** A text area for a reason, a note or a comment. */
export function NoteField({ onChange, ...rest }: NoteFieldProps) {
  const take = (event: { readonly currentTarget: HTMLTextAreaElement }) => onChange(event.currentTarget.value);
  return <Textarea w="100%" maxLength={200} autosize minRows={2} {...rest} onChange={take} />;
}
