import { Box, Button, Group, Stack, Textarea } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useCommonTexts } from '../../i18n/common.ts';
import { Hint } from '../../parts/page.tsx';
import { FormProblem } from '../../parts/states.tsx';
import { useMayDo } from '../../session/session.ts';
import { type ChannelTabProps, useChannelChange } from './use-change.ts';

interface ChannelFormProps {
  readonly change: { readonly error: unknown; readonly isPending: boolean };
  /** True if there is nothing to save or a field is missing. */
  readonly isIdle: boolean;
  readonly children: ReactNode;
  /** Shown instead of the button to operators who are not allowed to save. */
  readonly instead?: string | undefined;
  onSave(): void;
}

/** A form for settings of a channel that are saved together, by an admin. */
export function ChannelForm({ change, isIdle, children, instead, onSave }: ChannelFormProps) {
  const common = useCommonTexts();
  const isAdmin = useMayDo('admin');
  return (
    <Stack
      component="form"
      gap={16}
      maw={560}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isIdle && !change.isPending) onSave();
      }}
    >
      {children}
      <FormProblem error={change.error} />
      {isAdmin ? (
        <Button type="submit" disabled={isIdle} loading={change.isPending} style={{ alignSelf: 'flex-start' }}>
          {common('save')}
        </Button>
      ) : instead ? (
        <Hint>{instead}</Hint>
      ) : null}
    </Stack>
  );
}

/** Splits a text into its entries, without duplicates. */
const linesOf = (text: string): string[] => [...new Set(text.split(/[\s,;]+/).filter((line) => line !== ''))];

interface LinesFormProps extends ChannelTabProps {
  readonly of: 'ipAllowList' | 'frameOrigins';
  readonly label: string;
  readonly description: string;
  readonly placeholder?: string;
  readonly instead?: string;
  readonly minRows: number;
}

/** A form for a channel's setting that is a list, with one entry per line. */
export function LinesForm({ channel, of, instead, ...field }: LinesFormProps) {
  const isAdmin = useMayDo('admin');
  const change = useChannelChange(channel.appId);
  const [text, setText] = useState(channel[of].join('\n'));
  const lines = linesOf(text);
  return (
    <ChannelForm
      change={change}
      isIdle={lines.join() === channel[of].join()}
      onSave={() => change.mutate({ [of]: lines }, { onSuccess: (answer) => setText(answer.channel[of].join('\n')) })}
      instead={instead}
    >
      <Textarea
        {...field}
        value={text}
        readOnly={!isAdmin}
        onChange={(event) => setText(event.currentTarget.value)}
        classNames={{ input: 'mono' }}
        spellCheck={false}
        autosize
        maxRows={16}
      />
    </ChannelForm>
  );
}

/** A row in a list of settings, with its buttons. */
export function SettingRow({ children, actions }: { readonly children: ReactNode; readonly actions?: ReactNode }) {
  return (
    <Group component="li" gap="8px 16px" mih={56} px={4} py={10}>
      <Box flex="1 1 240px" miw={0} style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Box>
      {actions ? <Group gap="8px 14px">{actions}</Group> : null}
    </Group>
  );
}
