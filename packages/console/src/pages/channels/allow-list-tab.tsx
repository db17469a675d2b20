import { Textarea } from '@mantine/core';
import { useState } from 'react';
import { useMayDo } from '../../session/session.ts';
import { ChannelForm } from './channel-form.tsx';
import type { ChannelTabProps } from './channel-tab.ts';
import { linesOf } from './lines.ts';
import { useTexts } from './texts.ts';
import { useChannelChange } from './use-change.ts';

export function AllowListTab({ channel }: ChannelTabProps) {
  const t = useTexts();
  const isAdmin = useMayDo('admin');
  const change = useChannelChange(channel.appId);
  const [text, setText] = useState(channel.ipAllowList.join('\n'));
  const ipAllowList = linesOf(text);
  return (
    <ChannelForm
      change={change}
      isIdle={ipAllowList.join() === channel.ipAllowList.join()}
      onSave={() =>
        change.mutate({ ipAllowList }, { onSuccess: (answer) => setText(answer.channel.ipAllowList.join('\n')) })
      }
      instead={t('onlyAdmin')}
    >
      <Textarea
        label={t('ranges')}
        description={t('allowListHint')}
        placeholder={t('everyAddress')}
        value={text}
        readOnly={!isAdmin}
        onChange={(event) => setText(event.currentTarget.value)}
        classNames={{ input: 'mono' }}
        spellCheck={false}
        autosize
        minRows={4}
        maxRows={16}
      />
    </ChannelForm>
  );
}
