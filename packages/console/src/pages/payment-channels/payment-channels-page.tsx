import { Button, Group } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useFilters } from '../../address/filters.ts';
import { places } from '../../address/places.ts';
import { paymentChannelsQuery } from '../../api/catalog.ts';
import { api } from '../../api/client.ts';
import type { PaymentChannel, PaymentChannelAnswer } from '../../api/types.ts';
import { useChannelNames } from '../../catalog/catalog.ts';
import { KeyIcon, PlusIcon } from '../../icons/icons.tsx';
import { ConfirmDialog } from '../../parts/dialogs/confirm-dialog.tsx';
import { SecretsDialog } from '../../parts/dialogs/secrets-dialog.tsx';
import { Sheet, SheetButtons, SheetPart } from '../../parts/dialogs/sheet.tsx';
import { type Column, DataTable } from '../../parts/lists/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Facts, Page } from '../../parts/page.tsx';
import { Empty, Note, NotFound } from '../../parts/states.tsx';
import { Copyable } from '../../parts/values/copyable.tsx';
import { Count } from '../../parts/values/money.tsx';
import { PlaceLink } from '../../parts/values/place-link.tsx';
import { Tag } from '../../parts/values/status.tsx';
import { Time } from '../../parts/values/time.tsx';
import { useMayDo } from '../../session/session.ts';
import { ConnectionTest } from './connection-test.tsx';
import { PauseDialog, ResumeDialog } from './pause-dialogs.tsx';
import { PaymentChannelDialog } from './payment-channel-dialog.tsx';
import { useTexts } from './texts.ts';

type Task =
  | { readonly what: 'add' }
  | { readonly what: 'change' | 'reset' | 'pause' | 'resume'; readonly channel: PaymentChannel }
  | { readonly what: 'key'; readonly name: string; readonly code: string; readonly key: string };

export default function PaymentChannelsPage() {
  const t = useTexts();
  const isAdmin = useMayDo('admin');
  const queries = useQueryClient();
  const opened = useFilters(['code']);
  const found = useQuery(paymentChannelsQuery);
  const [task, setTask] = useState<Task>();
  const close = () => setTask(undefined);
  const reload = () => void queries.invalidateQueries({ queryKey: paymentChannelsQuery.queryKey });
  const showKey = ({ paymentChannel: { code, displayName: name }, gatewayKey: key }: PaymentChannelAnswer) => {
    reload();
    setTask(key === null ? undefined : { what: 'key', name, code, key });
  };
  const columns: readonly Column<PaymentChannel>[] = [
    {
      id: 'name',
      header: t('name'),
      cell: ({ displayName, debitsPausedAt }) => (
        <>
          {displayName} {debitsPausedAt === null ? null : <Tag tone="waiting">{t('paused')}</Tag>}
        </>
      ),
      grows: true,
    },
    {
      id: 'gateway',
      header: t('gateway'),
      cell: ({ gateway }) => <Tag tone={gateway === 'bridge' ? 'positive' : 'neutral'}>{t(gateway)}</Tag>,
      inCard: 'aside',
    },
    { id: 'code', header: t('code'), cell: ({ code }) => <Copyable value={code} /> },
    { id: 'pace', header: t('pace'), cell: (channel) => <Pace channel={channel} />, align: 'end' },
    { id: 'hours', header: t('hours'), cell: (channel) => <Hours channel={channel} /> },
    { id: 'channels', header: t('channels'), cell: ({ channels }) => <Count value={channels.length} />, align: 'end' },
    {
      id: 'created',
      header: t('created'),
      cell: ({ createdAt }) => <Time value={createdAt} />,
      align: 'end',
      inCard: 'none',
    },
  ];
  const one = found.data?.find(({ code }) => code === opened.values.code);
  return (
    <Page
      title={t('title')}
      actions={
        isAdmin ? (
          <Button leftSection={<PlusIcon size={16} />} onClick={() => setTask({ what: 'add' })}>
            {t('add')}
          </Button>
        ) : null
      }
    >
      <Loaded query={found}>
        {(channels) =>
          channels.length === 0 ? (
            <Empty title={t('empty')} hint={t('emptyHint')} />
          ) : (
            <DataTable
              caption={t('caption')}
              columns={columns}
              rows={channels}
              rowKey={({ code }) => code}
              onOpen={({ code }) => opened.set({ code })}
            />
          )
        }
      </Loaded>
      <Sheet
        isOpen={opened.values.code !== undefined && found.data !== undefined}
        title={one?.displayName ?? t('title')}
        onClose={() => opened.set({ code: undefined })}
      >
        {one ? (
          <OneChannel
            channel={one}
            onChange={() => setTask({ what: 'change', channel: one })}
            onReset={() => setTask({ what: 'reset', channel: one })}
            onPause={() => setTask({ what: one.debitsPausedAt === null ? 'pause' : 'resume', channel: one })}
          />
        ) : (
          <NotFound />
        )}
      </Sheet>
      {task?.what === 'add' ? <PaymentChannelDialog onClose={close} onMade={showKey} /> : null}
      {task?.what === 'change' ? (
        <PaymentChannelDialog
          channel={task.channel}
          onClose={close}
          onChanged={() => {
            close();
            reload();
          }}
        />
      ) : null}
      {task?.what === 'reset' ? (
        <ConfirmDialog
          isOpen
          isDangerous
          title={t('resetTitle', { name: task.channel.displayName })}
          verb={t('resetKey')}
          typed={task.channel.code}
          onConfirm={async () => {
            const answer = await api.post('/payment-channels/{code}/key', { code: task.channel.code });
            // Opens the dialog with the key after this dialog has closed itself. Otherwise this dialog's onClose would
            // close both.
            setTimeout(() => showKey(answer));
          }}
          onClose={close}
        >
          <p>{t('resetHint')}</p>
        </ConfirmDialog>
      ) : null}
      {task?.what === 'pause' ? <PauseDialog channel={task.channel} onChanged={reload} onClose={close} /> : null}
      {task?.what === 'resume' ? <ResumeDialog channel={task.channel} onChanged={reload} onClose={close} /> : null}
      {task?.what === 'key' ? (
        <SecretsDialog
          title={t('keyTitle', { name: task.name })}
          fileName={`${task.code}.env`}
          secrets={[['BRIDGE_KEY', t('key'), task.key]]}
          onClose={close}
        />
      ) : null}
    </Page>
  );
}

function Pace({ channel: { debitsPerSecond } }: { readonly channel: PaymentChannel }) {
  const t = useTexts();
  if (debitsPerSecond === null) return <span className="quiet">{t('unpaced')}</span>;
  return <span className="figures">{t('perSecond', { count: debitsPerSecond })}</span>;
}

function Hours({ channel: { debitHours } }: { readonly channel: PaymentChannel }) {
  const t = useTexts();
  if (debitHours === null) return <span className="quiet">{t('anyHour')}</span>;
  return <span className="figures">{t('hoursText', debitHours)}</span>;
}

interface OneChannelProps {
  readonly channel: PaymentChannel;
  onChange(): void;
  onReset(): void;
  onPause(): void;
}

function OneChannel({ channel, onChange, onReset, onPause }: OneChannelProps) {
  const t = useTexts();
  const mayPause = useMayDo('finance');
  const mayTest = useMayDo('support');
  const isPaused = channel.debitsPausedAt !== null;
  const isAdmin = useMayDo('admin');
  const names = useChannelNames();
  return (
    <>
      <Facts
        facts={[
          [t('code'), <Copyable key="code" value={channel.code} />],
          [t('gateway'), t(channel.gateway)],
          ...(channel.gatewayUrl === null
            ? []
            : [[t('url'), <Copyable key="url" value={channel.gatewayUrl} />] as const]),
          [t('pace'), <Pace key="pace" channel={channel} />],
          [t('hours'), <Hours key="hours" channel={channel} />],
          [t('bankCode'), t(channel.bankCodeRequired ? 'required' : 'optional')],
          [t('common'), t(channel.commonNumbers ? 'yes' : 'no')],
          [t('created'), <Time key="created" value={channel.createdAt} />],
          ...(isPaused ? [[t('pausedSince'), <Time key="paused" value={channel.debitsPausedAt} />] as const] : []),
        ]}
      />
      {isPaused ? <Note tone="waiting">{t('pausedHint')}</Note> : null}
      {mayPause || isAdmin ? (
        <SheetButtons>
          {isAdmin ? (
            <Button variant="default" onClick={onChange}>
              {t('edit')}
            </Button>
          ) : null}
          {isAdmin && channel.gateway === 'bridge' ? (
            <Button variant="default" leftSection={<KeyIcon size={16} />} onClick={onReset}>
              {t('resetKey')}
            </Button>
          ) : null}
          {mayPause ? (
            <Button variant={isPaused ? 'filled' : 'default'} onClick={onPause}>
              {t(isPaused ? 'resume' : 'pause')}
            </Button>
          ) : null}
        </SheetButtons>
      ) : null}
      <p>
        <PlaceLink to="/health">{t('health')}</PlaceLink>
      </p>
      {mayTest && channel.gateway === 'bridge' ? <ConnectionTest code={channel.code} /> : null}
      <SheetPart title={t('banks')}>
        <Group gap={5} align="stretch">
          {channel.supportedBanks.map((bank) => (
            <Tag key={bank} tone="neutral">
              {bank === '*' ? t('everyBank') : bank}
            </Tag>
          ))}
        </Group>
      </SheetPart>
      <SheetPart title={t('channels')}>
        {channel.channels.length === 0 ? <p className="quiet">{t('noChannels')}</p> : null}
        {channel.channels.map((appId) => (
          <div key={appId}>
            <PlaceLink to={`${places.channel(appId)}?tab=authorizations`}>{names.of(appId)}</PlaceLink>
          </div>
        ))}
      </SheetPart>
    </>
  );
}
