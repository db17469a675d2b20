import { Group } from '@mantine/core';
import { randomId } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Filters } from '../../address/filters.ts';
import { places } from '../../address/places.ts';
import { api } from '../../api/client.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { useEventTypeText } from '../../parts/event-type.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { placeAddress } from '../../parts/place-link.tsx';
import { Tag, useStatusChoices } from '../../parts/status.tsx';
import { WordsField } from '../../parts/words-field.tsx';
import type { EVENT_LIST_FILTERS } from './filters.ts';
import { useTexts } from './texts.ts';

interface ReplayAllDialogProps {
  readonly appId: string;
  readonly name: string;
  readonly filter: Filters<(typeof EVENT_LIST_FILTERS)[number]>;
  onClose(): void;
}

/** Everything that matches, not only what is on the page: it becomes a run, which is started where it is shown. */
export function ReplayAllDialog({ appId, name, filter, onClose }: ReplayAllDialogProps) {
  const t = useTexts();
  const common = useCommonTexts();
  const typeText = useEventTypeText();
  const statuses = useStatusChoices('delivery');
  const navigate = useNavigate();
  const [reason, setReason] = useState('');
  // Sent twice, it is the same run.
  const [key] = useState(() => randomId('replay-'));
  const conditions = [
    statuses.find(({ value }) => value === filter.status)?.label,
    filter.eventType && typeText(filter.eventType),
    filter.orderNo && `${t('order')} ${filter.orderNo}`,
    filter.from && `${common('from')} ${filter.from}`,
    filter.to && `${common('to')} ${filter.to}`,
  ].filter((text): text is string => !!text);
  return (
    <FormDialog
      title={t('replayAllTitle')}
      verb={t('dryRun')}
      isIncomplete={reason.trim() === ''}
      onClose={onClose}
      onSubmit={async () => {
        const run = await api.post('/bulk', {
          kind: 'REPLAY',
          filter: { appId, ...filter },
          reason: reason.trim(),
          key,
        });
        await navigate(placeAddress(places.bulkRun(run.runId)));
      }}
    >
      <Group component="ul" gap={6} align="stretch">
        <li>
          <Tag tone="neutral">{conditions.length === 0 ? t('allOf', { name }) : name}</Tag>
        </li>
        {conditions.map((text) => (
          <li key={text}>
            <Tag tone="neutral">{text}</Tag>
          </li>
        ))}
      </Group>
      <p>{t('replayAllHint')}</p>
      <WordsField
        label={common('reason')}
        description={t('reasonHint')}
        value={reason}
        onChange={setReason}
        data-autofocus
      />
    </FormDialog>
  );
}
