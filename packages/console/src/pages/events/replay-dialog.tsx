import { useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { ConfirmDialog } from '../../parts/dialogs/confirm-dialog.tsx';
import { notifyDone } from '../../parts/notify.ts';
import { BACKLOGS_KEY } from './backlog.tsx';
import { useTexts } from './texts.ts';

interface ReplayDialogProps {
  readonly appId: string;
  readonly eventIds: readonly string[];
  onReplayed?(): void;
  onClose(): void;
}

/** Asks for confirmation, then has the given events sent again. */
export function ReplayDialog({ appId, eventIds, onReplayed, onClose }: ReplayDialogProps) {
  const t = useTexts();
  const queries = useQueryClient();
  return (
    <ConfirmDialog
      isOpen
      title={t('replayTitle', { count: eventIds.length })}
      verb={t('replay')}
      onConfirm={async () => {
        const { replayed } = await api.post('/channels/{appId}/events/replay', { appId, eventIds: [...eventIds] });
        notifyDone(t('replayed', { count: replayed }));
        for (const queryKey of [['/events'], BACKLOGS_KEY]) void queries.invalidateQueries({ queryKey });
        onReplayed?.();
      }}
      onClose={onClose}
    >
      <p>{t('replayHint')}</p>
    </ConfirmDialog>
  );
}
