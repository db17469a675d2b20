import { Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useCommonTexts } from '../../i18n/common.ts';
import { FormDialog, type FormDialogProps } from './form-dialog.tsx';

interface ConfirmDialogProps extends Omit<FormDialogProps, 'onSubmit'> {
  readonly isOpen: boolean;
  /** A text that has to be typed before the button is enabled, for actions that are costly if done by accident. */
  readonly typed?: string;
  onConfirm(): Promise<unknown>;
}

/** Asks for confirmation, shows the error if the action fails, and closes when it succeeds. */
export function ConfirmDialog({ isOpen, ...props }: ConfirmDialogProps) {
  return isOpen ? <Question {...props} /> : null;
}

function Question({ typed, isIncomplete = false, children, onConfirm, ...props }: Omit<ConfirmDialogProps, 'isOpen'>) {
  const t = useCommonTexts();
  const [words, setWords] = useState('');
  return (
    <FormDialog
      {...props}
      isKept={false}
      isIncomplete={isIncomplete || (typed !== undefined && words.trim() !== typed)}
      onSubmit={async () => {
        await onConfirm();
        props.onClose();
      }}
    >
      <Stack gap={12}>{children}</Stack>
      {typed === undefined ? null : (
        <TextInput
          label={t('typeToConfirm', { words: typed })}
          value={words}
          onChange={(event) => setWords(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
          classNames={{ input: 'mono' }}
          data-autofocus
        />
      )}
    </FormDialog>
  );
}
