import { Button, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { places } from '../../address/places.ts';
import { channelsQuery } from '../../api/catalog.ts';
import { api } from '../../api/client.ts';
import type { Channel, ChannelCreated, ChannelRequest } from '../../api/types.ts';
import { PlusIcon } from '../../icons/icons.tsx';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { SecretsDialog } from '../../parts/dialogs/secrets-dialog.tsx';
import { type Column, DataTable } from '../../parts/lists/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty } from '../../parts/states.tsx';
import { Copyable } from '../../parts/values/copyable.tsx';
import { Count } from '../../parts/values/money.tsx';
import { placeAddress } from '../../parts/values/place-link.tsx';
import { Status } from '../../parts/values/status.tsx';
import { Time } from '../../parts/values/time.tsx';
import { useMayDo } from '../../session/session.ts';
import { useSecretRows } from './secret-rows.ts';
import { useTexts } from './texts.ts';

export default function ChannelsPage() {
  const t = useTexts();
  const isAdmin = useMayDo('admin');
  const found = useQuery(channelsQuery);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const secretRows = useSecretRows();
  const [isAdding, setAdding] = useState(false);
  const [made, setMade] = useState<ChannelCreated>();
  const add = (
    <Button leftSection={<PlusIcon size={16} />} onClick={() => setAdding(true)}>
      {t('add')}
    </Button>
  );
  const columns: readonly Column<Channel>[] = [
    { id: 'name', header: t('name'), cell: ({ name }) => name, grows: true },
    {
      id: 'status',
      header: t('status'),
      cell: ({ status }) => <Status of="channel" value={status} />,
      inCard: 'aside',
    },
    { id: 'appId', header: t('appId'), cell: ({ appId }) => <Copyable value={appId} /> },
    {
      id: 'callbacks',
      header: t('callbacks'),
      cell: ({ callbackUrls }) =>
        callbackUrls.length === 0 ? (
          <span className="quiet">{t('none')}</span>
        ) : (
          t('callbackCount', { count: callbackUrls.length })
        ),
    },
    { id: 'products', header: t('products'), cell: ({ products }) => <Count value={products.length} />, align: 'end' },
    {
      id: 'rate',
      header: t('rate'),
      cell: ({ ratePerSecond }) => <span className="figures">{t('perSecond', { count: ratePerSecond })}</span>,
      align: 'end',
    },
    { id: 'created', header: t('created'), cell: ({ createdAt }) => <Time value={createdAt} />, align: 'end' },
  ];
  return (
    <Page title={t('title')} actions={isAdmin ? add : null}>
      <Loaded query={found}>
        {(channels) =>
          channels.length === 0 ? (
            <Empty title={t('empty')} hint={t('emptyHint')} />
          ) : (
            <DataTable
              caption={t('caption')}
              columns={columns}
              rows={channels}
              rowKey={({ appId }) => appId}
              rowLink={({ appId }) => placeAddress(places.channel(appId))}
            />
          )
        }
      </Loaded>
      {isAdding ? (
        <NewChannelDialog
          onClose={() => setAdding(false)}
          onMade={(channel) => {
            setAdding(false);
            setMade(channel);
            void queries.invalidateQueries({ queryKey: channelsQuery.queryKey });
          }}
        />
      ) : null}
      {made ? (
        <SecretsDialog
          title={t('addedSecrets', { name: made.channel.name })}
          fileName={`${made.channel.appId}.env`}
          secrets={[
            ['PERENNIAL_BASE_URL', t('baseUrl'), made.baseUrl],
            ['PERENNIAL_APP_ID', t('appId'), made.channel.appId],
            ...secretRows(made.credentials),
          ]}
          onClose={() => {
            setMade(undefined);
            void navigate(placeAddress(places.channel(made.channel.appId)));
          }}
        />
      ) : null}
    </Page>
  );
}

interface NewChannelDialogProps {
  onMade(made: ChannelCreated): void;
  onClose(): void;
}

function NewChannelDialog({ onMade, onClose }: NewChannelDialogProps) {
  const t = useTexts();
  const [name, setName] = useState('');
  const [appId, setAppId] = useState('');
  return (
    <FormDialog
      title={t('add')}
      verb={t('addVerb')}
      isIncomplete={name.trim() === ''}
      onClose={onClose}
      onSubmit={async () => {
        const request: ChannelRequest = {
          name: name.trim(),
          ...(appId.trim() === '' ? {} : { appId: appId.trim() }),
        };
        onMade(await api.post('/channels', request));
      }}
    >
      <TextInput
        label={t('name')}
        description={t('nameHint')}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={200}
        data-autofocus
      />
      <TextInput
        label={t('appId')}
        description={t('appIdHint')}
        value={appId}
        onChange={(event) => setAppId(event.currentTarget.value)}
        maxLength={64}
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="none"
      />
    </FormDialog>
  );
}
