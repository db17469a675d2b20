import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useCommonTexts } from '../i18n/common.ts';
import { Dialog } from './dialog.tsx';
import { FormProblem } from './states.tsx';

interface ConfirmDialogProps {
  readonly isOpen: boolean;
  readonly title: string;
  /** What will happen, in plain words. */
  readonly children: ReactNode;
  /** The verb: Refund, End session. */
  readonly verb: string;
  readonly isDangerous?: boolean;
  /** To be typed before the button can be pressed, where an accident would be dear. */
  readonly typed?: string;
  /** Something else is missing, such as a reason. */
  readonly isIncomplete?: boolean;
  onConfirm(): Promise<unknown>;
  onClose(): void;
}

/** Asks before something happens; shows why it did not. Closes itself once it is done. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { isOpen, title, onClose } = props;
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={title}>
      <Question {...props} />
    </Dialog>
  );
}

/** Apart, so that what was typed is forgotten with the dialog. */
function Question({ children, verb, isDangerous, typed, isIncomplete, onConfirm, onClose }: ConfirmDialogProps) {
  const t = useCommonTexts();
  const [words, setWords] = useState('');
  const confirm = useMutation({ mutationFn: onConfirm, onSuccess: onClose });
  const isMissing = isIncomplete === true || (typed !== undefined && words.trim() !== typed);
  return (
    <Stack
      component="form"
      gap={16}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isMissing) confirm.mutate();
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
      <FormProblem error={confirm.error} />
      <Group gap={8} justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {t('cancel')}
        </Button>
        <Button type="submit" color={isDangerous ? 'red' : 'iris'} disabled={isMissing} loading={confirm.isPending}>
          {verb}
        </Button>
      </Group>
    </Stack>
  );
}
