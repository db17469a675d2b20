import { NumberInput, Radio, SimpleGrid, Stack, Switch, Textarea, TextInput } from '@mantine/core';
import { api } from '../../api/client.ts';
import type { PaymentChannel, PaymentChannelAnswer } from '../../api/types.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { ADDRESS, CODE, useFields, WHOLE } from '../../parts/fields/fields.ts';
import { notifySaved } from '../../parts/notify.ts';
import { Hint } from '../../parts/page.tsx';
import { useSession } from '../../session/session.ts';
import { useTexts } from './texts.ts';

/** The values as typed. */
const typedOf = (channel: PaymentChannel | undefined) => ({
  code: channel?.code ?? '',
  gateway: channel?.gateway ?? ('bridge' as const),
  displayName: channel?.displayName ?? '',
  gatewayUrl: channel?.gatewayUrl ?? '',
  banks: channel?.supportedBanks.join(', ') ?? '*',
  bankCodeRequired: channel?.bankCodeRequired ?? false,
  debitsPerSecond: (channel?.debitsPerSecond ?? '') as number | string,
  from: (channel?.debitHours?.from ?? '') as number | string,
  to: (channel?.debitHours?.to ?? '') as number | string,
  commonNumbers: channel?.commonNumbers ?? false,
});
type Typed = ReturnType<typeof typedOf>;

const banksOf = (text: string): string[] => text.split(/[\s,;，；]+/).filter((bank) => bank !== '');

const isComplete = ({ code, displayName, banks, gateway, gatewayUrl, from, to }: Typed): boolean =>
  code.trim() !== '' &&
  displayName.trim() !== '' &&
  banksOf(banks).length > 0 &&
  (gateway !== 'bridge' || gatewayUrl.trim() !== '') &&
  (from === '') === (to === '');

const toRequest = (typed: Typed) => ({
  displayName: typed.displayName.trim(),
  supportedBanks: banksOf(typed.banks),
  gatewayUrl: typed.gateway === 'bridge' ? typed.gatewayUrl.trim() : null,
  bankCodeRequired: typed.bankCodeRequired,
  debitsPerSecond: typed.debitsPerSecond === '' ? null : Number(typed.debitsPerSecond),
  debitHours: typed.from === '' ? null : { from: Number(typed.from), to: Number(typed.to) },
  commonNumbers: typed.commonNumbers,
});

interface PaymentChannelDialogProps {
  /** The payment channel to change, or undefined to create one. */
  readonly channel?: PaymentChannel;
  onMade?(answer: PaymentChannelAnswer): void;
  onChanged?(): void;
  onClose(): void;
}

export function PaymentChannelDialog({ channel, onMade, onChanged, onClose }: PaymentChannelDialogProps) {
  const t = useTexts();
  const common = useCommonTexts();
  const { environment } = useSession();
  const { values, text, value, flag } = useFields(() => typedOf(channel));
  return (
    <FormDialog
      title={channel ? t('editTitle', { name: channel.displayName }) : t('add')}
      verb={channel ? common('save') : t('addVerb')}
      size="lg"
      isIncomplete={!isComplete(values)}
      onClose={onClose}
      onSubmit={async () => {
        const { code, gateway } = values;
        if (channel) {
          const { changed } = await api.put('/payment-channels/{code}', { code, ...toRequest(values) });
          notifySaved(changed);
          onChanged?.();
        } else {
          onMade?.(await api.post('/payment-channels', { ...toRequest(values), code: code.trim(), gateway }));
        }
      }}
    >
      {environment === 'sandbox' && !channel ? (
        <Radio.Group label={t('gateway')} {...value('gateway')}>
          <Stack gap={8} mt={6}>
            <Radio value="bridge" label={t('bridge')} description={t('bridgeHint')} />
            <Radio value="sandbox" label={t('sandbox')} description={t('sandboxHint')} />
          </Stack>
        </Radio.Group>
      ) : null}
      {channel ? null : (
        <TextInput label={t('code')} description={t('codeHint')} {...text('code')} {...CODE} data-autofocus />
      )}
      <TextInput label={t('name')} {...text('displayName')} maxLength={200} />
      {values.gateway === 'bridge' ? <TextInput label={t('url')} {...text('gatewayUrl')} {...ADDRESS} /> : null}
      <Textarea
        label={t('banks')}
        description={t('banksHint')}
        {...text('banks')}
        classNames={{ input: 'mono' }}
        spellCheck={false}
        autosize
        minRows={1}
        maxRows={6}
      />
      <NumberInput label={t('pace')} description={t('paceHint')} {...value('debitsPerSecond')} min={1} {...WHOLE} />
      <div>
        <SimpleGrid cols={2} spacing={12}>
          <NumberInput label={t('hoursFrom')} {...value('from')} min={0} max={23} {...WHOLE} />
          <NumberInput label={t('hoursTo')} {...value('to')} min={1} max={24} {...WHOLE} />
        </SimpleGrid>
        <Hint>{t('hoursHint')}</Hint>
      </div>
      <Switch label={t('bankCodeRequired')} {...flag('bankCodeRequired')} />
      <Switch label={t('commonNumbers')} {...flag('commonNumbers')} />
    </FormDialog>
  );
}
