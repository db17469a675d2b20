import { Button, Group, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useCommonTexts } from '../../i18n/common.ts';
import { FormProblem } from '../states.tsx';
import { Dialog } from './dialog.tsx';

export interface FormDialogProps {
  readonly title: string;
  /** What the button says: Make the channel. */
  readonly verb: string;
  readonly size?: 'md' | 'lg' | 'xl';
  /** A press beside it does not close it, since that would drop what was typed. */
  readonly isKept?: boolean;
  readonly isDangerous?: boolean;
  readonly isIncomplete?: boolean;
  readonly children: ReactNode;
  /** What it throws is shown below the fields; the dialog stays, with all that was typed. */
  onSubmit(): Promise<unknown>;
  onClose(): void;
}

/** Fields in a dialog. It is there only while it is open, so what was typed is forgotten with it. */
export function FormDialog(props: FormDialogProps) {
  const { title, verb, size = 'md', isKept = true, isDangerous, isIncomplete = false, children } = props;
  const { onSubmit, onClose } = props;
  const t = useCommonTexts();
  const submit = useMutation({ mutationFn: onSubmit });
  return (
    <Dialog isOpen isKept={isKept} onClose={onClose} title={title} size={size}>
      <Stack
        component="form"
        gap={16}
        onSubmit={(event) => {
          event.preventDefault();
          // A form inside a form of the page, by its place among the components, is not the page's.
          event.stopPropagation();
          if (!isIncomplete && !submit.isPending) submit.mutate();
        }}
      >
        {children}
        <FormProblem error={submit.error} />
        <Group gap={8} justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button type="submit" color={isDangerous ? 'red' : 'iris'} disabled={isIncomplete} loading={submit.isPending}>
            {verb}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
