import { Button, Select, Stack, Switch, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ConfirmDialog } from '../../parts/dialogs/confirm-dialog.tsx';
import { Facts, Section } from '../../parts/page.tsx';
import { FormProblem } from '../../parts/states.tsx';
import { Copyable } from '../../parts/values/copyable.tsx';
import { Time } from '../../parts/values/time.tsx';
import { useMayDo } from '../../session/session.ts';
import { ChannelForm, LinesForm } from './channel-form.tsx';
import { NoticeSection } from './notice-section.tsx';
import { useTexts } from './texts.ts';
import { type ChannelTabProps, useChannelChange } from './use-change.ts';

export function GeneralTab({ channel }: ChannelTabProps) {
  const t = useTexts();
  const isAdmin = useMayDo('admin');
  const [isAsked, setAsked] = useState(false);
  const change = useChannelChange(channel.appId);
  const isActive = channel.status === 'ACTIVE';
  return (
    <>
      <Facts
        facts={[
          [t('appId'), <Copyable key="appId" value={channel.appId} />],
          [t('created'), <Time key="created" value={channel.createdAt} as="full" />],
        ]}
      />
      <NameSection channel={channel} />
      <InterfaceSettings channel={channel} />
      <NoticeSection channel={channel} />
      <Section title={t('redemption')}>
        <LinesForm
          channel={channel}
          of="frameOrigins"
          label={t('frameOrigins')}
          description={t('frameOriginsHint')}
          minRows={2}
        />
      </Section>
      {isAdmin ? (
        <Section
          title={t(isActive ? 'suspendSection' : 'resumeSection')}
          hint={t(isActive ? 'suspendHint' : 'resumeHint')}
        >
          <div>
            <Button
              variant={isActive ? 'outline' : 'filled'}
              color={isActive ? 'red' : 'iris'}
              onClick={() => setAsked(true)}
            >
              {t(isActive ? 'suspend' : 'resume')}
            </Button>
          </div>
        </Section>
      ) : null}
      <ConfirmDialog
        isOpen={isAsked}
        isDangerous={isActive}
        title={t(isActive ? 'suspendTitle' : 'resumeTitle', { name: channel.name })}
        verb={t(isActive ? 'suspend' : 'resume')}
        onConfirm={() => change.mutateAsync({ status: isActive ? 'SUSPENDED' : 'ACTIVE' })}
        onClose={() => setAsked(false)}
      >
        <p>{t(isActive ? 'suspendHint' : 'resumeHint')}</p>
      </ConfirmDialog>
    </>
  );
}

function NameSection({ channel }: ChannelTabProps) {
  const t = useTexts();
  const isAdmin = useMayDo('admin');
  const change = useChannelChange(channel.appId);
  const [name, setName] = useState(channel.name);
  return (
    <ChannelForm
      change={change}
      isIdle={name.trim() === '' || name.trim() === channel.name}
      onSave={() => change.mutate({ name: name.trim() })}
    >
      <TextInput
        label={t('name')}
        description={t('nameHint')}
        value={name}
        readOnly={!isAdmin}
        maxLength={200}
        onChange={(event) => setName(event.currentTarget.value)}
      />
    </ChannelForm>
  );
}

function InterfaceSettings({ channel }: ChannelTabProps) {
  const t = useTexts();
  const isAdmin = useMayDo('admin');
  const change = useChannelChange(channel.appId);
  return (
    <Section title={t('interface')}>
      <Stack gap={16} maw={560}>
        <Switch
          label={t('voided')}
          description={t('voidedHint')}
          checked={channel.voidedPeriodEvents}
          disabled={!isAdmin || change.isPending}
          onChange={(event) => change.mutate({ voidedPeriodEvents: event.currentTarget.checked })}
        />
        <Select
          label={t('encryption')}
          description={t('encryptionHint')}
          data={['v1', 'v2']}
          value={channel.answerEncryption}
          disabled={!isAdmin || change.isPending}
          onChange={(answers) =>
            (answers === 'v1' || answers === 'v2') &&
            answers !== channel.answerEncryption &&
            change.mutate({ encryption: { answers } })
          }
        />
        <Switch
          label={t('acceptsV1')}
          description={t('acceptsV1Hint')}
          checked={channel.acceptsV1}
          disabled={!isAdmin || change.isPending}
          onChange={(event) => change.mutate({ encryption: { acceptsV1: event.currentTarget.checked } })}
        />
        <FormProblem error={change.error} />
      </Stack>
    </Section>
  );
}
