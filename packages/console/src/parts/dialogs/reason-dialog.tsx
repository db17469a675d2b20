import { type ComponentProps, useState } from 'react';
import { useCommonTexts } from '../../i18n/common.ts';
import { dictionary } from '../../i18n/dictionary.ts';
import { NoteField } from '../fields/note-field.tsx';
import { ConfirmDialog } from './confirm-dialog.tsx';

const useTexts = dictionary({
  reasonHint: ['Stored in the audit log.', '将写入审计日志。'],
});

interface ReasonDialogProps extends Omit<ComponentProps<typeof ConfirmDialog>, 'isOpen' | 'typed' | 'onConfirm'> {
  onConfirm(reason: string): Promise<unknown>;
}

/** Asks for confirmation and for a reason. */
export function ReasonDialog({ isIncomplete = false, children, onConfirm, ...rest }: ReasonDialogProps) {
  const t = useTexts();
  const common = useCommonTexts();
  const [words, setWords] = useState('');
  const reason = words.trim();
  return (
    <ConfirmDialog isOpen {...rest} isIncomplete={isIncomplete || reason === ''} onConfirm={() => onConfirm(reason)}>
      {children}
      <NoteField
        label={common('reason')}
        description={t('reasonHint')}
        value={words}
        onChange={setWords}
        data-autofocus
      />
    </ConfirmDialog>
  );
}
