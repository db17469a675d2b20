import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useCommonTexts } from '../../i18n/common.ts';
import { ConfirmDialog } from '../../parts/dialogs/confirm-dialog.tsx';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { ADDRESS } from '../../parts/fields/fields.ts';
import { Hint } from '../../parts/page.tsx';
import { CALLBACK_TYPES, type CallbackType, useEventTypeText } from '../../parts/values/event-type.ts';
import { Tag } from '../../parts/values/status.tsx';
import { useMayDo } from '../../session/session.ts';
import { SettingRow } from './channel-form.tsx';
import { useTexts } from './texts.ts';
import { type ChannelTabProps, useChannelChange } from './use-change.ts';

type Task = { readonly what: 'set' | 'remove'; readonly type: CallbackType; readonly url: string };

export function CallbacksTab({ channel }: ChannelTabProps) {
  const t = useTexts();
  const isAdmin = useMayDo('admin');
  const typeText = useEventTypeText();
  const change = useChannelChange(channel.appId);
  const [task, setTask] = useState<Task>();
  const close = () => setTask(undefined);
  return (
    <>
      <Hint>{t('callbacksHint')}</Hint>
      <ul className="lined">
        {CALLBACK_TYPES.map((type) => {
          const url = channel.callbackUrls.find((one) => one.eventType === type)?.url;
          return (
            <SettingRow
              key={type}
              actions={
                isAdmin ? (
                  <>
                    <Button variant="default" size="xs" onClick={() => setTask({ what: 'set', type, url: url ?? '' })}>
                      {t(url ? 'change' : 'setUrl')}
                    </Button>
                    {url ? (
                      <Button
                        variant="subtle"
                        color="red"
                        size="xs"
                        onClick={() => setTask({ what: 'remove', type, url })}
                      >
                        {t('remove')}
                      </Button>
                    ) : null}
                  </>
                ) : null
              }
            >
              <strong>{typeText(type)}</strong>{' '}
              {channel.pausedEvents.includes(type) ? <Tag tone="waiting">{t('pausedNote')}</Tag> : null}
              <p className={url ? 'quiet mono' : 'quiet small'}>{url ?? t('none')}</p>
            </SettingRow>
          );
        })}
      </ul>
      {task?.what === 'set' ? (
        <UrlDialog
          title={t('urlFor', { type: typeText(task.type) })}
          url={task.url}
          onSet={async (url) => {
            await change.mutateAsync({ callback: { eventType: task.type, url } });
            close();
          }}
          onClose={close}
        />
      ) : null}
      {task?.what === 'remove' ? (
        <ConfirmDialog
          isOpen
          isDangerous
          title={t('removeUrlTitle')}
          verb={t('remove')}
          onConfirm={() => change.mutateAsync({ callback: { eventType: task.type, url: null } })}
          onClose={close}
        >
          <p className="mono">{task.url}</p>
          <p>{t('removeUrlHint')}</p>
        </ConfirmDialog>
      ) : null}
    </>
  );
}

interface UrlDialogProps {
  readonly title: string;
  readonly url: string;
  onSet(url: string): Promise<void>;
  onClose(): void;
}

function UrlDialog({ title, url: before, onSet, onClose }: UrlDialogProps) {
  const t = useTexts();
  const common = useCommonTexts();
  const [url, setUrl] = useState(before);
  return (
    <FormDialog
      title={title}
      verb={common('save')}
      isIncomplete={url.trim() === '' || url.trim() === before}
      onSubmit={() => onSet(url.trim())}
      onClose={onClose}
    >
      <TextInput
        label={t('url')}
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
        {...ADDRESS}
        data-autofocus
      />
    </FormDialog>
  );
}
