import { Alert, Button, Group, List, Select, Switch } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { places } from '../../address/places.ts';
import { paymentChannelsQuery, productsQuery } from '../../api/catalog.ts';
import { api } from '../../api/client.ts';
import type { ChannelAuthorized, ChannelChanged } from '../../api/types.ts';
import { ConfirmDialog } from '../../parts/dialogs/confirm-dialog.tsx';
import { notifySaved } from '../../parts/notify.ts';
import { Hint, Section } from '../../parts/page.tsx';
import { FormProblem } from '../../parts/states.tsx';
import { PlaceLink } from '../../parts/values/place-link.tsx';
import { Tag } from '../../parts/values/status.tsx';
import { useMayDo } from '../../session/session.ts';
import { SettingRow } from './channel-form.tsx';
import { useTexts } from './texts.ts';
import { type ChannelTabProps, useTakeChannel } from './use-change.ts';

type Kind = 'products' | 'payment-channels';
interface Flags {
  readonly isDefault?: boolean;
  readonly shareEnabled?: boolean;
}

/**
 * Returns two mutations: one authorizes products and payment channels for a channel, one withdraws the authorization.
 */
function useAuthorization(appId: string) {
  const take = useTakeChannel();
  const onSuccess = ({ channel }: ChannelChanged) => {
    take(channel);
    notifySaved(true);
  };
  const give = useMutation({
    mutationFn: ({ kind, code, flags }: { readonly kind: Kind; readonly code: string; readonly flags?: Flags }) =>
      kind === 'products'
        ? api.put('/channels/{appId}/products/{productCode}', { appId, productCode: code })
        : api.put('/channels/{appId}/payment-channels/{code}', { appId, code, ...flags }),
    onSuccess,
  });
  const withdraw = useMutation({
    mutationFn: ({ kind, code }: { readonly kind: Kind; readonly code: string }) =>
      kind === 'products'
        ? api.delete('/channels/{appId}/products/{productCode}', { appId, productCode: code })
        : api.delete('/channels/{appId}/payment-channels/{code}', { appId, code }),
    onSuccess: (changed) => {
      give.reset();
      onSuccess(changed);
    },
  });
  return { give, withdraw };
}

export function AuthorizationsTab({ channel }: ChannelTabProps) {
  const t = useTexts();
  const isAdmin = useMayDo('admin');
  const { give, withdraw } = useAuthorization(channel.appId);
  const [asked, setAsked] = useState<{ readonly kind: Kind; readonly code: string }>();
  const { data: products = [] } = useQuery(productsQuery);
  const { data: paymentChannels = [] } = useQuery(paymentChannelsQuery);
  const withdrawButton = (kind: Kind, code: string) =>
    isAdmin ? (
      <Button variant="subtle" color="red" size="xs" onClick={() => setAsked({ kind, code })}>
        {t('withdraw')}
      </Button>
    ) : null;
  const change = (code: string, flags: Flags) => give.mutate({ kind: 'payment-channels', code, flags });
  return (
    <>
      <Section title={t('products')} hint={t('productsHint')}>
        {channel.products.length === 0 ? <Hint>{t('noProducts')}</Hint> : null}
        <ul className="lined">
          {channel.products.map((code) => (
            <SettingRow key={code} actions={withdrawButton('products', code)}>
              <PlaceLink to={places.product(code)}>
                {products.find(({ productCode }) => productCode === code)?.productName ?? code}
              </PlaceLink>
              <p className="quiet mono">{code}</p>
            </SettingRow>
          ))}
        </ul>
        <AddBox
          label={t('addProduct')}
          choices={products
            .filter(({ productCode }) => !channel.products.includes(productCode))
            .map(({ productCode, productName }) => ({ value: productCode, label: `${productName} · ${productCode}` }))}
          isPending={give.isPending}
          onAdd={(code) => give.mutate({ kind: 'products', code })}
        />
      </Section>
      <Section title={t('paymentChannels')} hint={t('paymentChannelsHint')}>
        {channel.paymentChannels.length === 0 ? <Hint>{t('noPaymentChannels')}</Hint> : null}
        <ul className="lined">
          {channel.paymentChannels.map(({ code, isDefault, shareEnabled }) => (
            <SettingRow
              key={code}
              actions={
                <>
                  <Switch
                    size="xs"
                    label={t('shares')}
                    checked={shareEnabled}
                    disabled={!isAdmin || give.isPending}
                    onChange={(event) => change(code, { shareEnabled: event.currentTarget.checked })}
                  />
                  {isAdmin && !isDefault ? (
                    <Button variant="default" size="xs" onClick={() => change(code, { isDefault: true })}>
                      {t('setDefault')}
                    </Button>
                  ) : null}
                  {withdrawButton('payment-channels', code)}
                </>
              }
            >
              <PlaceLink to={`/payment-channels?code=${encodeURIComponent(code)}`}>
                {paymentChannels.find((one) => one.code === code)?.displayName ?? code}
              </PlaceLink>{' '}
              {isDefault ? <Tag tone="progress">{t('isDefault')}</Tag> : null}
              <p className="quiet mono">{code}</p>
            </SettingRow>
          ))}
        </ul>
        <AddBox
          label={t('addPaymentChannel')}
          choices={paymentChannels
            .filter(({ code }) => !channel.paymentChannels.some((one) => one.code === code))
            .map(({ code, displayName }) => ({ value: code, label: `${displayName} · ${code}` }))}
          isPending={give.isPending}
          onAdd={(code) => change(code, { isDefault: channel.paymentChannels.length === 0 })}
        />
      </Section>
      <FormProblem error={give.error} />
      <Warnings warnings={give.data?.warnings ?? []} />
      {asked ? (
        <ConfirmDialog
          isOpen
          isDangerous
          title={t('withdrawTitle', { code: asked.code })}
          verb={t('withdraw')}
          onConfirm={() => withdraw.mutateAsync(asked)}
          onClose={() => setAsked(undefined)}
        >
          <p>{t(asked.kind === 'products' ? 'withdrawProductHint' : 'withdrawPaymentHint')}</p>
        </ConfirmDialog>
      ) : null}
    </>
  );
}

type Warning = ChannelAuthorized['warnings'][number];
const RULE_TEXTS = {
  'days-too-few': 'alipayDaysTooFew',
  'days-of-month': 'alipayDaysOfMonth',
  'once-a-cycle': 'alipayOnceACycle',
  'single-amount': 'alipaySingleAmount',
} as const satisfies Record<Warning['rule'], string>;

/** After a product or payment channel was authorized, shows the institution's rules that a product may violate. */
function Warnings({ warnings }: { readonly warnings: readonly Warning[] }) {
  const t = useTexts();
  if (warnings.length === 0) return null;
  return (
    <Alert color="yellow" title={t('warnings')}>
      <List size="md" spacing={6}>
        {warnings.map(({ rule, productCode, paymentChannelCode }) => (
          <List.Item key={`${productCode} ${paymentChannelCode} ${rule}`}>
            <span className="mono">
              {productCode} · {paymentChannelCode}
            </span>{' '}
            {t(RULE_TEXTS[rule])}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

interface AddBoxProps {
  readonly label: string;
  readonly choices: { value: string; label: string }[];
  readonly isPending: boolean;
  onAdd(code: string): void;
}

function AddBox({ label, choices, isPending, onAdd }: AddBoxProps) {
  const t = useTexts();
  const [chosen, setChosen] = useState<string | null>(null);
  const isAdmin = useMayDo('admin');
  if (!isAdmin || choices.length === 0) return null;
  return (
    <Group gap={8} align="flex-end" wrap="nowrap" maw={420}>
      <Select
        aria-label={label}
        placeholder={label}
        data={choices}
        value={chosen}
        onChange={setChosen}
        searchable
        clearable
        flex={1}
      />
      <Button
        variant="default"
        disabled={chosen === null}
        loading={isPending}
        onClick={() => {
          if (chosen !== null) onAdd(chosen);
          setChosen(null);
        }}
      >
        {t('authorize')}
      </Button>
    </Group>
  );
}
