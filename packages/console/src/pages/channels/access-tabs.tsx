import { NumberInput } from '@mantine/core';
import { useFields, WHOLE } from '../../parts/fields/fields.ts';
import { Hint } from '../../parts/page.tsx';
import { useMayDo } from '../../session/session.ts';
import { ChannelForm, LinesForm } from './channel-form.tsx';
import { useTexts } from './texts.ts';
import { type ChannelTabProps, useChannelChange } from './use-change.ts';

/** The IP allow-list of a channel. */
export function AllowListTab({ channel }: ChannelTabProps) {
  const t = useTexts();
  return (
    <LinesForm
      channel={channel}
      of="ipAllowList"
      label={t('ranges')}
      description={t('allowListHint')}
      placeholder={t('everyAddress')}
      instead={t('onlyAdmin')}
      minRows={4}
    />
  );
}

/** The rate limit of a channel. */
export function RateTab({ channel }: ChannelTabProps) {
  const t = useTexts();
  const isAdmin = useMayDo('admin');
  const change = useChannelChange(channel.appId);
  const { values, value } = useFields(() => ({
    rate: channel.ratePerSecond as number | string,
    burst: channel.rateBurst as number | string,
  }));
  const { rate, burst } = values;
  const isSame = rate === channel.ratePerSecond && burst === channel.rateBurst;
  const field = { min: 1, readOnly: !isAdmin, ...WHOLE };
  return (
    <ChannelForm
      change={change}
      isIdle={isSame || rate === '' || burst === ''}
      onSave={() => change.mutate({ limits: { ratePerSecond: Number(rate), rateBurst: Number(burst) } })}
      instead={t('onlyAdmin')}
    >
      <Hint>{t('rateHint')}</Hint>
      <NumberInput label={t('ratePerSecond')} {...value('rate')} {...field} max={1_000_000} />
      <NumberInput label={t('rateBurst')} {...value('burst')} {...field} max={10_000_000} />
    </ChannelForm>
  );
}
