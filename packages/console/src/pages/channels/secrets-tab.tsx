import { Button, Checkbox, Select, Stack } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { CredentialsAnswer, CredentialsRequest } from '../../api/types.ts';
import { KeyIcon } from '../../icons/icons.tsx';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { SecretsDialog } from '../../parts/dialogs/secrets-dialog.tsx';
import { Hint } from '../../parts/page.tsx';
import { Note } from '../../parts/states.tsx';
import { Tag } from '../../parts/values/status.tsx';
import { Time } from '../../parts/values/time.tsx';
import { useMayDo } from '../../session/session.ts';
import { SettingRow } from './channel-form.tsx';
import { SECRETS, type SecretName, useSecretRows } from './secret-rows.ts';
import { useTexts } from './texts.ts';
import { type ChannelTabProps, useTakeChannel } from './use-change.ts';

export function SecretsTab({ channel }: ChannelTabProps) {
  const t = useTexts();
  const isAdmin = useMayDo('admin');
  const secretRows = useSecretRows();
  const take = useTakeChannel();
  const [isRolling, setRolling] = useState(false);
  const [made, setMade] = useState<CredentialsAnswer['credentials']>();
  return (
    <>
      <Hint>{t('secretsHint')}</Hint>
      <ul className="lined">
        {SECRETS.map((name) => (
          <SettingRow
            key={name}
            actions={
              <span className="quiet" aria-hidden="true">
                ••••••••••••
              </span>
            }
          >
            <strong>{t(name)}</strong> <Tag tone="positive">{t('oneSecret')}</Tag>
            <p className="quiet small">{t(`${name}For`)}</p>
            {name === 'appSecret' && channel.formerSecretUntil !== null ? (
              <p className="quiet small">
                {t('bothTaken')} <Time value={channel.formerSecretUntil} />
              </p>
            ) : null}
          </SettingRow>
        ))}
      </ul>
      {isAdmin ? (
        <div>
          <Button leftSection={<KeyIcon size={16} />} onClick={() => setRolling(true)}>
            {t('roll')}
          </Button>
        </div>
      ) : (
        <Hint>{t('onlyAdmin')}</Hint>
      )}
      {isRolling ? (
        <RollDialog
          appId={channel.appId}
          name={channel.name}
          onClose={() => setRolling(false)}
          onMade={(answer) => {
            setRolling(false);
            setMade(answer.credentials);
            take(answer.channel);
          }}
        />
      ) : null}
      {made ? (
        <SecretsDialog
          title={t('addedSecrets', { name: channel.name })}
          fileName={`${channel.appId}.env`}
          secrets={secretRows(made)}
          onClose={() => setMade(undefined)}
        />
      ) : null}
    </>
  );
}

const OVERLAPS = [0, 1, 24, 72, 168] as const;

interface RollDialogProps {
  readonly appId: string;
  readonly name: string;
  onMade(answer: CredentialsAnswer): void;
  onClose(): void;
}

function RollDialog({ appId, name, onMade, onClose }: RollDialogProps) {
  const t = useTexts();
  const [names, setNames] = useState<string[]>(['appSecret']);
  const [overlap, setOverlap] = useState('24');
  const rollsAppSecret = names.includes('appSecret');
  const overlapText = (hours: number) =>
    hours === 0
      ? t('overlapNone')
      : hours < 24
        ? t('overlapHours', { count: hours })
        : t('overlapDays', { count: hours / 24 });
  return (
    <FormDialog
      title={t('rollTitle', { name })}
      verb={t('rollVerb')}
      isDangerous
      isIncomplete={names.length === 0}
      onClose={onClose}
      onSubmit={async () => {
        const request: CredentialsRequest = {
          names: names as SecretName[],
          ...(rollsAppSecret ? { overlapHours: Number(overlap) } : {}),
        };
        onMade(await api.post('/channels/{appId}/credentials', { appId, ...request }));
      }}
    >
      <Checkbox.Group label={t('rollWhich')} value={names} onChange={setNames}>
        <Stack gap={10} mt={8}>
          {SECRETS.map((secret) => (
            <Checkbox key={secret} value={secret} label={t(secret)} description={t(`${secret}For`)} />
          ))}
        </Stack>
      </Checkbox.Group>
      {rollsAppSecret ? (
        <Select
          label={t('overlap')}
          description={t('overlapHint')}
          data={OVERLAPS.map((hours) => ({ value: String(hours), label: overlapText(hours) }))}
          value={overlap}
          onChange={(chosen) => chosen && setOverlap(chosen)}
        />
      ) : null}
      {names.some((one) => one !== 'appSecret') ? <Note tone="waiting">{t('noOverlapHint')}</Note> : null}
    </FormDialog>
  );
}
