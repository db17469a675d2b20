import { Button, Group, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useCommonTexts } from '../../i18n/common.ts';
import { FormProblem } from '../states.tsx';
import { Dialog } from './dialog.tsx';

export interface FormDialogProps {
  readonly title: string;
  /** The label of the button, such as "Create channel". */
  readonly verb: string;
  readonly size?: 'md' | 'lg' | 'xl';
  /**
   * True (the default) if a click outside must not close the dialog, because that would discard what the operator
   * typed.
   */
  readonly isKept?: boolean;
  readonly isDangerous?: boolean;
  readonly isIncomplete?: boolean;
  readonly children: ReactNode;
  /** Submits the form. A thrown error is shown below the fields, and the fields keep their values. */
  onSubmit(): Promise<unknown>;
  onClose(): void;
}

/** A dialog with fields. It is mounted only while open, so the values of its fields are discarded when it closes. */
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
          // Stops the event. Otherwise React would pass it on to a form of the page around this component.
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
