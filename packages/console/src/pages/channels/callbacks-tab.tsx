import { Button, Group, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useCommonTexts } from '../../i18n/common.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { CALLBACK_TYPES, type CallbackType, useEventTypeText } from '../../parts/event-type.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { Tag } from '../../parts/status.tsx';
import { useMayDo } from '../../session/session.ts';
import type { ChannelTabProps } from './channel-tab.ts';
import styles from './channels.module.css';
import { useTexts } from './texts.ts';
import { useChannelChange } from './use-change.ts';

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
      <p className={styles.hint}>{t('callbacksHint')}</p>
      <ul className={styles.rows}>
        {CALLBACK_TYPES.map((type) => {
          const url = channel.callbackUrls.find((one) => one.eventType === type)?.url;
          return (
            <li key={type} className={styles.row}>
              <div className={styles.what}>
                <strong>{typeText(type)}</strong>{' '}
                {channel.pausedEvents.includes(type) ? <Tag tone="waiting">{t('pausedNote')}</Tag> : null}
                <p className={url ? 'mono' : undefined}>{url ?? t('none')}</p>
              </div>
              {isAdmin ? (
                <Group gap="8px 14px">
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
                </Group>
              ) : null}
            </li>
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
        placeholder="https://"
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
        classNames={{ input: 'mono' }}
        maxLength={2000}
        spellCheck={false}
        inputMode="url"
        data-autofocus
      />
    </FormDialog>
  );
}
