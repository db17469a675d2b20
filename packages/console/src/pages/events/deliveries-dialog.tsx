import { Button, Switch } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { CALLBACK_TYPES, type CallbackType, useEventTypeText } from '../../parts/event-type.ts';
import dialog from '../../parts/form-dialog.module.css';
import { notifyDone } from '../../parts/notify.ts';
import { FormProblem } from '../../parts/states.tsx';
import { backlogsQuery } from './backlog.tsx';
import styles from './events.module.css';
import { useTexts } from './texts.ts';

interface DeliveriesDialogProps {
  readonly appId: string;
  readonly name: string;
  readonly paused: readonly string[];
  onClose(): void;
}

/** A switch for each type: on is delivered, off is held back. */
export function DeliveriesDialog({ appId, name, paused, onClose }: DeliveriesDialogProps) {
  const t = useTexts();
  const common = useCommonTexts();
  const typeText = useEventTypeText();
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: async ({ type, isOn }: { readonly type: CallbackType; readonly isOn: boolean }) => {
      const verb = isOn ? 'resume' : 'pause';
      await api.post(`/channels/{appId}/events/${verb}`, { appId, eventType: type });
      await queries.invalidateQueries({ queryKey: backlogsQuery.queryKey });
      notifyDone(t(isOn ? 'nowResumed' : 'nowPaused', { type: typeText(type) }));
    },
  });
  const isAllPaused = paused.includes('*');
  return (
    <Dialog isOpen onClose={onClose} title={t('deliveriesTitle', { name })}>
      <div className={dialog.form}>
        <p>{t('deliveriesHint')}</p>
        <div className={styles.switches}>
          {CALLBACK_TYPES.map((type) => {
            const isOverruled = isAllPaused && type !== '*';
            return (
              <Switch
                key={type}
                label={t('deliver', { type: typeText(type) })}
                description={isOverruled ? t('pausedForAll') : undefined}
                checked={!paused.includes(type) && !isOverruled}
                disabled={isOverruled || change.isPending}
                onChange={(event) => change.mutate({ type, isOn: event.currentTarget.checked })}
              />
            );
          })}
        </div>
        <FormProblem error={change.error} />
        <div className={dialog.buttons}>
          <Button variant="default" onClick={onClose}>
            {common('close')}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
