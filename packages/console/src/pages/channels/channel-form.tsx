import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useCommonTexts } from '../../i18n/common.ts';
import { FormProblem } from '../../parts/states.tsx';
import { useMayDo } from '../../session/session.ts';
import styles from './channels.module.css';
import type { useChannelChange } from './use-change.ts';

interface ChannelFormProps {
  readonly change: ReturnType<typeof useChannelChange>;
  /** There is nothing to save, or something is missing. */
  readonly isIdle: boolean;
  readonly children: ReactNode;
  /** What somebody reads who may not save. */
  readonly instead?: string;
  onSave(): void;
}

/** Settings of a channel that are saved together, by an admin. */
export function ChannelForm({ change, isIdle, children, instead, onSave }: ChannelFormProps) {
  const common = useCommonTexts();
  const isAdmin = useMayDo('admin');
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        onSave();
      }}
    >
      {children}
      <FormProblem error={change.error} />
      {isAdmin ? (
        <Button type="submit" disabled={isIdle} loading={change.isPending}>
          {common('save')}
        </Button>
      ) : instead ? (
        <p className={styles.hint}>{instead}</p>
      ) : null}
    </form>
  );
}
