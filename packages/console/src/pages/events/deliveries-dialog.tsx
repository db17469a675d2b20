import { Button, Group, Stack, Switch } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { Dialog } from '../../parts/dialogs/dialog.tsx';
import { notifyDone } from '../../parts/notify.ts';
import { FormProblem } from '../../parts/states.tsx';
import { CALLBACK_TYPES, type CallbackType, useEventTypeText } from '../../parts/values/event-type.ts';
import { BACKLOGS_KEY } from './backlog.tsx';
import { useTexts } from './texts.ts';

interface DeliveriesDialogProps {
  readonly appId: string;
  readonly name: string;
  readonly paused: readonly string[];
  onClose(): void;
}

/** Shows a switch for each event type: on means that its events are delivered, off that their delivery is paused. */
export function DeliveriesDialog({ appId, name, paused, onClose }: DeliveriesDialogProps) {
  const t = useTexts();
  const common = useCommonTexts();
  const typeText = useEventTypeText();
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: async ({ type, isOn }: { readonly type: CallbackType; readonly isOn: boolean }) => {
      const verb = isOn ? 'resume' : 'pause';
      await api.post(`/channels/{appId}/events/${verb}`, { appId, eventType: type });
      await queries.invalidateQueries({ queryKey: BACKLOGS_KEY });
      notifyDone(t(isOn ? 'nowResumed' : 'nowPaused', { type: typeText(type) }));
    },
  });
  const isAllPaused = paused.includes('*');
  return (
    <Dialog isOpen onClose={onClose} title={t('deliveriesTitle', { name })}>
      <Stack gap={16}>
        <p>{t('deliveriesHint')}</p>
        <Stack gap={14}>
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
        </Stack>
        <FormProblem error={change.error} />
        <Group gap={8} justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {common('close')}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
