import { NumberInput } from '@mantine/core';
import { useState } from 'react';
import { useMayDo } from '../../session/session.ts';
import { ChannelForm } from './channel-form.tsx';
import type { ChannelTabProps } from './channel-tab.ts';
import styles from './channels.module.css';
import { useTexts } from './texts.ts';
import { useChannelChange } from './use-change.ts';

export function RateTab({ channel }: ChannelTabProps) {
  const t = useTexts();
  const isAdmin = useMayDo('admin');
  const change = useChannelChange(channel.appId);
  const [rate, setRate] = useState<number | string>(channel.ratePerSecond);
  const [burst, setBurst] = useState<number | string>(channel.rateBurst);
  const isSame = rate === channel.ratePerSecond && burst === channel.rateBurst;
  return (
    <ChannelForm
      change={change}
      isIdle={isSame || rate === '' || burst === ''}
      onSave={() => change.mutate({ limits: { ratePerSecond: Number(rate), rateBurst: Number(burst) } })}
      instead={t('onlyAdmin')}
    >
      <p className={styles.hint}>{t('rateHint')}</p>
      <NumberInput
        label={t('ratePerSecond')}
        value={rate}
        onChange={setRate}
        min={1}
        max={1_000_000}
        allowDecimal={false}
        readOnly={!isAdmin}
        thousandSeparator=","
      />
      <NumberInput
        label={t('rateBurst')}
        value={burst}
        onChange={setBurst}
        min={1}
        max={10_000_000}
        allowDecimal={false}
        readOnly={!isAdmin}
        thousandSeparator=","
      />
    </ChannelForm>
  );
}
