import { Box, Button, Group, Select, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { Dialog } from '../../parts/dialogs/dialog.tsx';
import { Facts } from '../../parts/page.tsx';
import { FormProblem } from '../../parts/states.tsx';
import { EVENT_TYPES, useEventTypeText } from '../../parts/values/event-type.ts';
import { countText } from '../../parts/values/money.tsx';
import styles from './events.module.css';
import { Outcome } from './pushes.tsx';
import { useTexts } from './texts.ts';

interface TestEventDialogProps {
  readonly appId: string;
  readonly name: string;
  onClose(): void;
}

export function TestEventDialog({ appId, name, onClose }: TestEventDialogProps) {
  const t = useTexts();
  const common = useCommonTexts();
  const typeText = useEventTypeText();
  const [eventType, setEventType] = useState<(typeof EVENT_TYPES)[number]>(EVENT_TYPES[0]);
  const send = useMutation({
    mutationFn: () => api.post('/channels/{appId}/events/test', { appId, eventType }),
  });
  return (
    <Dialog isOpen onClose={onClose} title={t('testTitle', { name })} size="lg">
      <Stack
        component="form"
        gap={16}
        onSubmit={(event) => {
          event.preventDefault();
          send.mutate();
        }}
      >
        <p>{t('testHint')}</p>
        <Select
          label={t('type')}
          data={EVENT_TYPES.map((value) => ({ value, label: `${typeText(value)} · ${value}` }))}
          value={eventType}
          onChange={(chosen) => chosen && setEventType(chosen as typeof eventType)}
        />
        <div role="status">
          {send.data && !send.isPending ? (
            <Box className={styles.facts} p="14px 16px" bd="1px solid var(--line)" bdrs={8}>
              <Facts
                facts={[
                  [t('outcome'), <Outcome key="outcome" value={send.data.outcome} />],
                  [t('http'), send.data.httpStatus ?? t('noAnswer')],
                  [t('took'), t('milliseconds', { count: countText(send.data.latencyMs) })],
                  [t('sentTo'), <Mono key="url" text={send.data.url} />],
                  [t('answer'), <Mono key="answer" text={send.data.answer || '–'} />],
                ]}
              />
            </Box>
          ) : null}
        </div>
        <FormProblem error={send.error} />
        <Group gap={8} justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {common('close')}
          </Button>
          <Button type="submit" loading={send.isPending}>
            {send.data ? t('sendAgain') : t('send')}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

const Mono = ({ text }: { readonly text: string }) => <span className="mono tiny">{text}</span>;
