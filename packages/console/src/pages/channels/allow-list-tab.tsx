import { Button, Textarea } from '@mantine/core';
import { useState } from 'react';
import { useCommonTexts } from '../../i18n/common.ts';
import { FormProblem } from '../../parts/states.tsx';
import { useMayDo } from '../../session/session.ts';
import type { ChannelTabProps } from './channel-tab.ts';
import styles from './channels.module.css';
import { linesOf } from './lines.ts';
import { useTexts } from './texts.ts';
import { useChannelChange } from './use-change.ts';

export function AllowListTab({ channel }: ChannelTabProps) {
  const t = useTexts();
  const common = useCommonTexts();
  const isAdmin = useMayDo('admin');
  const change = useChannelChange(channel.appId);
  const [text, setText] = useState(channel.ipAllowList.join('\n'));
  const ipAllowList = linesOf(text);
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ ipAllowList }, { onSuccess: (answer) => setText(answer.channel.ipAllowList.join('\n')) });
      }}
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
      <FormProblem error={change.error} />
      {isAdmin ? (
        <Button type="submit" disabled={ipAllowList.join() === channel.ipAllowList.join()} loading={change.isPending}>
          {common('save')}
        </Button>
      ) : (
        <p className={styles.hint}>{t('onlyAdmin')}</p>
      )}
    </form>
  );
}
