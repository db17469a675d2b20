import {
  ActionIcon,
  Button,
  Checkbox,
  Fieldset,
  NumberInput,
  Radio,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  TextInput,
} from '@mantine/core';
import { api } from '../../api/client.ts';
import type { Product, ProductRequest, VersionRequest } from '../../api/types.ts';
import { CloseIcon, PlusIcon } from '../../icons/icons.tsx';
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx';
import { CODE, moneyField, useFields, WHOLE } from '../../parts/fields/fields.ts';
import { Hint } from '../../parts/page.tsx';
import { useSession } from '../../session/session.ts';
import { delayText, parseDelays, usePriceText } from './product-texts.ts';
import styles from './products.module.css';
import { useTexts } from './texts.ts';

type Mode = Product['settlementModes'][number];
const MODES: readonly Mode[] = ['SVC_DEDUCT', 'CHANNEL_COLLECT'];

/** A benefit of the product as typed. The price is in the currency's main unit, not in cents. */
interface BenefitRow {
  readonly key: number;
  readonly benefitCode: string;
  readonly name: string;
  readonly price: number | string;
}
const toCents = (price: number | string): number => Math.round(Number(price) * 100);
const isWhole = ({ benefitCode, name, price }: BenefitRow) =>
  benefitCode.trim() !== '' && name.trim() !== '' && price !== '';

/** The form's values as typed. */
interface Typed {
  readonly productName: string;
  readonly productCode: string;
  readonly modes: readonly Mode[];
  readonly period: number | string;
  readonly periodType: Product['periodType'];
  readonly price: number | string;
  readonly totalCycles: number | string;
  readonly benefits: readonly BenefitRow[];
  readonly retries: string;
  readonly replaces: boolean;
}

const typedOf = (former: Product | undefined): Typed => ({
  productName: former?.productName ?? '',
  productCode: '',
  modes: ['SVC_DEDUCT'],
  period: 1,
  periodType: 'MONTH',
  price: former ? former.amountCent / 100 : '',
  totalCycles: former?.totalCycles ?? 12,
  benefits: (former?.benefits ?? []).map(({ faceValueCent, ...one }, key) => ({
    ...one,
    key,
    price: faceValueCent / 100,
  })),
  retries: former?.retryDelays.map(delayText).join(', ') ?? '',
  replaces: former !== undefined && former.channels.length > 0,
});

const isComplete = ({ productName, price, totalCycles, benefits, retries }: Typed): boolean =>
  productName.trim() !== '' &&
  Number(price) > 0 &&
  Number(totalCycles) > 0 &&
  benefits.every(isWhole) &&
  parseDelays(retries) !== undefined;

const toRequest = ({ productName, price, totalCycles, benefits, retries }: Typed) => ({
  productName: productName.trim(),
  amountCent: toCents(price),
  totalCycles: Number(totalCycles),
  benefits: benefits.map(({ benefitCode, name, price: value }) => ({
    benefitCode: benefitCode.trim(),
    name: name.trim(),
    faceValueCent: toCents(value),
  })),
  ...(retries.trim() === '' ? {} : { retryDelays: parseDelays(retries) ?? [] }),
});

const toProduct = (typed: Typed): ProductRequest => ({
  ...toRequest(typed),
  productCode: typed.productCode.trim(),
  settlementModes: [...typed.modes],
  periodType: typed.periodType,
  period: Number(typed.period),
});

const toVersion = (typed: Typed): VersionRequest => ({
  retryDelays: [],
  ...toRequest(typed),
  ...(typed.productCode.trim() === '' ? {} : { productCode: typed.productCode.trim() }),
  replacesForChannels: typed.replaces,
});

interface ProductDialogProps {
  /** The product that gets a new version, or undefined for a new product. */
  readonly former?: Product;
  onMade(product: Product): void;
  onClose(): void;
}

export function ProductDialog({ former, onMade, onClose }: ProductDialogProps) {
  const t = useTexts();
  const priceText = usePriceText();
  const { values, set, text, value, flag } = useFields(() => typedOf(former));
  const areRetriesWrong = parseDelays(values.retries) === undefined;
  const isNewIncomplete = values.productCode.trim() === '' || values.modes.length === 0 || Number(values.period) < 1;
  return (
    <FormDialog
      title={former ? t('newVersionTitle', { name: former.productName }) : t('add')}
      verb={t(former ? 'newVersionVerb' : 'addVerb')}
      size="lg"
      isIncomplete={!isComplete(values) || (!former && isNewIncomplete)}
      onClose={onClose}
      onSubmit={async () =>
        onMade(
          former
            ? await api.post('/products/{formerCode}/versions', {
                formerCode: former.productCode,
                ...toVersion(values),
              })
            : await api.post('/products', toProduct(values)),
        )
      }
    >
      {former ? <Hint>{t('stays', { price: priceText(former) })}</Hint> : null}
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing={12}>
        <TextInput label={t('name')} {...text('productName')} maxLength={200} data-autofocus />
        <TextInput
          label={t('code')}
          placeholder={
            former
              ? t('versionCodeHint', { code: `${former.versionOf ?? former.productCode}_V${former.version + 1}` })
              : ''
          }
          {...text('productCode')}
          {...CODE}
        />
      </SimpleGrid>
      {former ? null : (
        <>
          <ModeChoice modes={values.modes} onChange={(modes) => set({ modes })} />
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing={12}>
            <NumberInput label={t('every')} {...value('period')} min={1} max={1200} {...WHOLE} />
            <Select
              label={t('unit')}
              data={[
                { value: 'MONTH', label: t('months') },
                { value: 'DAY', label: t('days') },
              ]}
              value={values.periodType}
              onChange={(chosen) => (chosen === 'DAY' || chosen === 'MONTH') && set({ periodType: chosen })}
            />
          </SimpleGrid>
        </>
      )}
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing={12}>
        <NumberInput label={t('amount')} {...value('price')} min={0.01} thousandSeparator="," {...moneyField()} />
        <NumberInput label={t('cycles')} {...value('totalCycles')} min={1} max={9999} {...WHOLE} />
      </SimpleGrid>
      <BenefitRows rows={values.benefits} onChange={(benefits) => set({ benefits })} />
      <TextInput
        label={t('retries')}
        description={t('retriesHint')}
        error={areRetriesWrong ? t('retriesWrong') : undefined}
        {...text('retries')}
        spellCheck={false}
      />
      {former && former.channels.length > 0 ? (
        <Switch
          label={t('replaces')}
          description={t('replacesHint', { count: former.channels.length })}
          {...flag('replaces')}
        />
      ) : null}
    </FormDialog>
  );
}

interface ModeChoiceProps {
  readonly modes: readonly Mode[];
  onChange(modes: readonly Mode[]): void;
}

/** Lets the operator choose the settlement modes. In production a product has only one. */
function ModeChoice({ modes, onChange }: ModeChoiceProps) {
  const t = useTexts();
  const isOne = useSession().environment === 'production';
  const Choice = isOne ? Radio : Checkbox;
  const choices = (
    <Stack gap={8} mt={6}>
      {MODES.map((mode) => (
        <Choice key={mode} value={mode} label={t(mode)} />
      ))}
    </Stack>
  );
  return isOne ? (
    <Radio.Group label={t('mode')} value={modes[0] ?? ''} onChange={(mode) => onChange([mode as Mode])}>
      {choices}
    </Radio.Group>
  ) : (
    <Checkbox.Group label={t('mode')} value={[...modes]} onChange={(chosen) => onChange(chosen as Mode[])}>
      {choices}
    </Checkbox.Group>
  );
}

interface BenefitRowsProps {
  readonly rows: readonly BenefitRow[];
  onChange(rows: readonly BenefitRow[]): void;
}

function BenefitRows({ rows, onChange }: BenefitRowsProps) {
  const t = useTexts();
  const change = (key: number, changes: Partial<BenefitRow>) =>
    onChange(rows.map((row) => (row.key === key ? { ...row, ...changes } : row)));
  const named = (text: string) => ({ 'aria-label': text, placeholder: text });
  return (
    <Fieldset variant="unstyled" legend={t('benefits')}>
      {rows.map((row) => (
        <div key={row.key} className={styles.benefit}>
          <TextInput
            {...named(t('benefitCode'))}
            value={row.benefitCode}
            onChange={(event) => change(row.key, { benefitCode: event.currentTarget.value })}
            {...CODE}
          />
          <TextInput
            {...named(t('benefitName'))}
            value={row.name}
            onChange={(event) => change(row.key, { name: event.currentTarget.value })}
            maxLength={200}
          />
          <NumberInput
            {...named(t('faceValue'))}
            value={row.price}
            onChange={(price) => change(row.key, { price })}
            min={0}
            {...moneyField()}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t('removeBenefit', { name: row.name || row.benefitCode })}
            onClick={() => onChange(rows.filter((one) => one.key !== row.key))}
          >
            <CloseIcon size={16} />
          </ActionIcon>
        </div>
      ))}
      <Button
        variant="default"
        size="xs"
        leftSection={<PlusIcon size={14} />}
        disabled={rows.length >= 50}
        onClick={() => {
          const key = Math.max(-1, ...rows.map((row) => row.key)) + 1;
          onChange([...rows, { key, benefitCode: '', name: '', price: '' }]);
        }}
      >
        {t('addBenefit')}
      </Button>
    </Fieldset>
  );
}
