import { NumberInput, Switch } from '@mantine/core';
import { useState } from 'react';
import { dictionary } from '../../i18n/dictionary.ts';
import { WHOLE } from '../../parts/fields/fields.ts';
import { Section } from '../../parts/page.tsx';
import { useMayDo } from '../../session/session.ts';
import { ChannelForm } from './channel-form.tsx';
import { type ChannelTabProps, useChannelChange } from './use-change.ts';

const useTexts = dictionary({
  title: ['Notice before a debit', '扣款前通知'],
  hint: [
    'The channel gets the event payment.upcoming before each renewal, with a link where the user can still unsubscribe.',
    '每次续费扣款前向渠道推送 payment.upcoming 事件，内含退订链接，用户可在扣款前退订。',
  ],
  send: ['Notify the channel before each debit', '每次扣款前通知渠道'],
  days: ['Days in advance', '提前天数'],
  daysHint: [
    '1 to 30. When you turn it on, periods due within these days are announced immediately; existing orders follow within minutes.',
    '1 至 30 天。开启后，期限内到期的账期立即通知；存量订单数分钟内生效。',
  ],
});

/** The notice period in days that Chinese rules require. */
const USUAL_DAYS = 5;

/** Sets whether a channel is notified before a renewal, and how many days before. */
export function NoticeSection({ channel }: ChannelTabProps) {
  const t = useTexts();
  const isAdmin = useMayDo('admin');
  const change = useChannelChange(channel.appId);
  const [isOn, setOn] = useState(channel.upcomingNoticeDays !== null);
  const [typed, setTyped] = useState<number | string>(channel.upcomingNoticeDays ?? USUAL_DAYS);
  const days = isOn ? Number(typed) : null;
  return (
    <Section title={t('title')} hint={t('hint')}>
      <ChannelForm
        change={change}
        isIdle={days === channel.upcomingNoticeDays || (isOn && typed === '')}
        onSave={() => change.mutate({ upcomingNoticeDays: days })}
      >
        <Switch
          label={t('send')}
          checked={isOn}
          disabled={!isAdmin}
          onChange={(event) => setOn(event.currentTarget.checked)}
        />
        {isOn ? (
          <NumberInput
            label={t('days')}
            description={t('daysHint')}
            value={typed}
            onChange={setTyped}
            min={1}
            max={30}
            {...WHOLE}
            readOnly={!isAdmin}
          />
        ) : null}
      </ChannelForm>
    </Section>
  );
}
