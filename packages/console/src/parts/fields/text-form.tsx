import { Button, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { FormProblem } from '../states.tsx';
import { NoteField } from './note-field.tsx';

interface TextFormProps {
  readonly label: string;
  /** Says who can read the text. Shown while the operator writes. */
  readonly hint?: string;
  readonly verb: string;
  onWrite(text: string): Promise<void>;
}

/** A form for a note or a comment, sent by its button or Ctrl+Enter. */
export function TextForm({ label, hint, verb, onWrite }: TextFormProps) {
  const [text, setText] = useState('');
  const write = useMutation({ mutationFn: () => onWrite(text.trim()), onSuccess: () => setText('') });
  const isEmpty = text.trim() === '';
  return (
    <Stack
      component="form"
      gap={8}
      align="flex-end"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isEmpty) write.mutate();
      }}
    >
      <NoteField
        aria-label={label}
        placeholder={label}
        description={isEmpty ? undefined : hint}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        value={text}
        onChange={setText}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) event.currentTarget.form?.requestSubmit();
        }}
        maxLength={2000}
        maxRows={10}
      />
      <FormProblem error={write.error} />
      <Button type="submit" variant="default" size="xs" disabled={isEmpty} loading={write.isPending}>
        {verb}
      </Button>
    </Stack>
  );
}
