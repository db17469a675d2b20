import { Button, Checkbox, Select, Stack } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { CredentialsAnswer, CredentialsRequest } from '../../api/types.ts';
import { KeyIcon } from '../../icons/icons.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { SecretsDialog } from '../../parts/secrets-dialog.tsx';
import { Tag } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { useMayDo } from '../../session/session.ts';
import type { ChannelTabProps } from './channel-tab.ts';
import styles from './channels.module.css';
import { SECRETS, type SecretName, useSecretRows } from './secret-rows.ts';
import { useTexts } from './texts.ts';
import { useTakeChannel } from './use-change.ts';

export function SecretsTab({ channel }: ChannelTabProps) {
  const t = useTexts();
  const isAdmin = useMayDo('admin');
  const secretRows = useSecretRows();
  const take = useTakeChannel();
  const [isRolling, setRolling] = useState(false);
  const [made, setMade] = useState<CredentialsAnswer['credentials']>();
  return (
    <>
      <p className={styles.hint}>{t('secretsHint')}</p>
      <ul className={styles.rows}>
        {SECRETS.map((name) => (
          <li key={name} className={styles.row}>
            <div className={styles.what}>
              <strong>{t(name)}</strong> <Tag tone="positive">{t('oneSecret')}</Tag>
              <p>{t(`${name}For`)}</p>
              {name === 'appSecret' && channel.formerSecretUntil !== null ? (
                <p>
                  {t('bothTaken')} <Time value={channel.formerSecretUntil} />
                </p>
              ) : null}
            </div>
            <span className="mono quiet" aria-hidden="true">
              ••••••••••••
            </span>
          </li>
        ))}
      </ul>
      {isAdmin ? (
        <div>
          <Button leftSection={<KeyIcon size={16} />} onClick={() => setRolling(true)}>
            {t('roll')}
          </Button>
        </div>
      ) : (
        <p className={styles.hint}>{t('onlyAdmin')}</p>
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
      {names.some((one) => one !== 'appSecret') ? <p className={styles.note}>{t('noOverlapHint')}</p> : null}
    </FormDialog>
  );
}
