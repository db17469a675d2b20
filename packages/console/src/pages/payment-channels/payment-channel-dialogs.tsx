import { NumberInput, Radio, Stack, Switch, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type {
  PaymentChannel,
  PaymentChannelAnswer,
  PaymentChannelChange,
  PaymentChannelRequest,
} from '../../api/types.ts';
import { useCommonTexts } from '../../i18n/common.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { notifyDone } from '../../parts/notify.ts';
import { useSession } from '../../session/session.ts';
import styles from './payment-channels.module.css';
import { useTexts } from './texts.ts';

/** As it is typed. */
interface Fields {
  readonly displayName: string;
  readonly gatewayUrl: string;
  readonly banks: string;
  readonly bankCodeRequired: boolean;
  readonly debitsPerSecond: number | string;
  readonly from: number | string;
  readonly to: number | string;
  readonly commonNumbers: boolean;
}

const banksOf = (text: string): string[] => text.split(/[\s,;，；]+/).filter((bank) => bank !== '');

const isComplete = (fields: Fields, isBridge: boolean): boolean =>
  fields.displayName.trim() !== '' &&
  banksOf(fields.banks).length > 0 &&
  (!isBridge || fields.gatewayUrl.trim() !== '') &&
  (fields.from === '') === (fields.to === '');

const toRequest = (fields: Fields, isBridge: boolean) => ({
  displayName: fields.displayName.trim(),
  supportedBanks: banksOf(fields.banks),
  gatewayUrl: isBridge ? fields.gatewayUrl.trim() : null,
  bankCodeRequired: fields.bankCodeRequired,
  debitsPerSecond: fields.debitsPerSecond === '' ? null : Number(fields.debitsPerSecond),
  debitHours: fields.from === '' ? null : { from: Number(fields.from), to: Number(fields.to) },
  commonNumbers: fields.commonNumbers,
});

interface NewPaymentChannelDialogProps {
  onMade(answer: PaymentChannelAnswer): void;
  onClose(): void;
}

export function NewPaymentChannelDialog({ onMade, onClose }: NewPaymentChannelDialogProps) {
  const t = useTexts();
  const { environment } = useSession();
  const [code, setCode] = useState('');
  const [gateway, setGateway] = useState<PaymentChannel['gateway']>('bridge');
  const [fields, setFields] = useState<Fields>({
    displayName: '',
    gatewayUrl: '',
    banks: '*',
    bankCodeRequired: false,
    debitsPerSecond: '',
    from: '',
    to: '',
    commonNumbers: false,
  });
  const isBridge = gateway === 'bridge';
  return (
    <FormDialog
      title={t('add')}
      verb={t('addVerb')}
      size="lg"
      isIncomplete={code.trim() === '' || !isComplete(fields, isBridge)}
      onClose={onClose}
      onSubmit={async () => {
        const request: PaymentChannelRequest = { ...toRequest(fields, isBridge), code: code.trim(), gateway };
        onMade(await api.post('/payment-channels', request));
      }}
    >
      {environment === 'sandbox' ? (
        <Radio.Group label={t('gateway')} value={gateway} onChange={(value) => setGateway(value as typeof gateway)}>
          <Stack gap={8} mt={6}>
            <Radio value="bridge" label={t('bridge')} description={t('bridgeHint')} />
            <Radio value="sandbox" label={t('sandbox')} description={t('sandboxHint')} />
          </Stack>
        </Radio.Group>
      ) : null}
      <TextInput
        label={t('code')}
        description={t('codeHint')}
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
        classNames={{ input: 'mono' }}
        maxLength={64}
        spellCheck={false}
        autoComplete="off"
        data-autofocus
      />
      <PaymentChannelFields fields={fields} isBridge={isBridge} onChange={setFields} />
    </FormDialog>
  );
}

interface ChangeDialogProps {
  readonly channel: PaymentChannel;
  onChanged(): void;
  onClose(): void;
}

export function ChangeDialog({ channel, onChanged, onClose }: ChangeDialogProps) {
  const t = useTexts();
  const common = useCommonTexts();
  const isBridge = channel.gateway === 'bridge';
  const [fields, setFields] = useState<Fields>({
    displayName: channel.displayName,
    gatewayUrl: channel.gatewayUrl ?? '',
    banks: channel.supportedBanks.join(', '),
    bankCodeRequired: channel.bankCodeRequired,
    debitsPerSecond: channel.debitsPerSecond ?? '',
    from: channel.debitHours?.from ?? '',
    to: channel.debitHours?.to ?? '',
    commonNumbers: channel.commonNumbers,
  });
  return (
    <FormDialog
      title={t('editTitle', { name: channel.displayName })}
      verb={common('save')}
      size="lg"
      isIncomplete={!isComplete(fields, isBridge)}
      onClose={onClose}
      onSubmit={async () => {
        const request: PaymentChannelChange = toRequest(fields, isBridge);
        const { changed } = await api.put('/payment-channels/{code}', { code: channel.code, ...request });
        notifyDone(t(changed ? 'saved' : 'asBefore'));
        onChanged();
      }}
    >
      <PaymentChannelFields fields={fields} isBridge={isBridge} onChange={setFields} />
    </FormDialog>
  );
}

interface PaymentChannelFieldsProps {
  readonly fields: Fields;
  readonly isBridge: boolean;
  onChange(fields: Fields): void;
}

function PaymentChannelFields({ fields, isBridge, onChange }: PaymentChannelFieldsProps) {
  const t = useTexts();
  const change = (changes: Partial<Fields>) => onChange({ ...fields, ...changes });
  return (
    <>
      <TextInput
        label={t('name')}
        value={fields.displayName}
        onChange={(event) => change({ displayName: event.currentTarget.value })}
        maxLength={200}
      />
      {isBridge ? (
        <TextInput
          label={t('url')}
          placeholder="https://"
          value={fields.gatewayUrl}
          onChange={(event) => change({ gatewayUrl: event.currentTarget.value })}
          classNames={{ input: 'mono' }}
          maxLength={2000}
          inputMode="url"
          spellCheck={false}
        />
      ) : null}
      <Textarea
        label={t('banks')}
        description={t('banksHint')}
        value={fields.banks}
        onChange={(event) => change({ banks: event.currentTarget.value })}
        classNames={{ input: 'mono' }}
        spellCheck={false}
        autosize
        minRows={1}
        maxRows={6}
      />
      <NumberInput
        label={t('pace')}
        description={t('paceHint')}
        value={fields.debitsPerSecond}
        onChange={(debitsPerSecond) => change({ debitsPerSecond })}
        min={1}
        allowDecimal={false}
        allowNegative={false}
      />
      <div>
        <div className={styles.pair}>
          <NumberInput
            label={t('hoursFrom')}
            value={fields.from}
            onChange={(from) => change({ from })}
            min={0}
            max={23}
            allowDecimal={false}
            allowNegative={false}
          />
          <NumberInput
            label={t('hoursTo')}
            value={fields.to}
            onChange={(to) => change({ to })}
            min={1}
            max={24}
            allowDecimal={false}
            allowNegative={false}
          />
        </div>
        <p className={styles.hint}>{t('hoursHint')}</p>
      </div>
      <Switch
        label={t('bankCodeRequired')}
        checked={fields.bankCodeRequired}
        onChange={(event) => change({ bankCodeRequired: event.currentTarget.checked })}
      />
      <Switch
        label={t('commonNumbers')}
        checked={fields.commonNumbers}
        onChange={(event) => change({ commonNumbers: event.currentTarget.checked })}
      />
    </>
  );
}
