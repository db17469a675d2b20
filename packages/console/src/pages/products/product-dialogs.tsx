import { ActionIcon, Button, Checkbox, NumberInput, Radio, Select, Stack, Switch, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Product, ProductRequest, VersionRequest } from '../../api/types.ts';
import { CloseIcon, PlusIcon } from '../../icons/icons.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { currencySign } from '../../parts/money.tsx';
import { useSession } from '../../session/session.ts';
import { delayText, parseDelays, usePriceText } from './product-texts.ts';
import styles from './products.module.css';
import { useTexts } from './texts.ts';

type Mode = Product['settlementModes'][number];
const MODES: readonly Mode[] = ['SVC_DEDUCT', 'CHANNEL_COLLECT'];

/** As it is typed: whole units of the currency, and a row for each benefit. */
interface BenefitRow {
  readonly key: number;
  readonly benefitCode: string;
  readonly name: string;
  readonly price: number | string;
}
const toCents = (price: number | string): number => Math.round(Number(price) * 100);
const toRows = (benefits: Product['benefits']): BenefitRow[] =>
  benefits.map(({ faceValueCent, ...benefit }, key) => ({ ...benefit, key, price: faceValueCent / 100 }));
const toBenefits = (rows: readonly BenefitRow[]): Product['benefits'] =>
  rows.map(({ benefitCode, name, price }) => ({
    benefitCode: benefitCode.trim(),
    name: name.trim(),
    faceValueCent: toCents(price),
  }));
const isWhole = (rows: readonly BenefitRow[]) =>
  rows.every(({ benefitCode, name, price }) => benefitCode.trim() !== '' && name.trim() !== '' && price !== '');

/** What both a new product and a later version have. */
interface Fields {
  readonly productName: string;
  readonly price: number | string;
  readonly totalCycles: number | string;
  readonly benefits: readonly BenefitRow[];
  readonly retries: string;
}

const isComplete = ({ productName, price, totalCycles, benefits, retries }: Fields): boolean =>
  productName.trim() !== '' &&
  Number(price) > 0 &&
  Number(totalCycles) > 0 &&
  isWhole(benefits) &&
  parseDelays(retries) !== undefined;

const toRequest = ({ productName, price, totalCycles, benefits, retries }: Fields) => ({
  productName: productName.trim(),
  amountCent: toCents(price),
  totalCycles: Number(totalCycles),
  benefits: toBenefits(benefits),
  ...(retries.trim() === '' ? {} : { retryDelays: parseDelays(retries) ?? [] }),
});

interface NewProductDialogProps {
  onMade(product: Product): void;
  onClose(): void;
}

export function NewProductDialog({ onMade, onClose }: NewProductDialogProps) {
  const t = useTexts();
  const { environment } = useSession();
  const [productCode, setProductCode] = useState('');
  const [modes, setModes] = useState<Mode[]>(['SVC_DEDUCT']);
  const [period, setPeriod] = useState<number | string>(1);
  const [periodType, setPeriodType] = useState<Product['periodType']>('MONTH');
  const [fields, setFields] = useState<Fields>({
    productName: '',
    price: '',
    totalCycles: 12,
    benefits: [],
    retries: '',
  });
  return (
    <FormDialog
      title={t('add')}
      verb={t('addVerb')}
      size="lg"
      isIncomplete={productCode.trim() === '' || modes.length === 0 || Number(period) < 1 || !isComplete(fields)}
      onClose={onClose}
      onSubmit={async () => {
        const request: ProductRequest = {
          ...toRequest(fields),
          productCode: productCode.trim(),
          settlementModes: modes,
          periodType,
          period: Number(period),
        };
        onMade(await api.post('/products', request));
      }}
    >
      <div className={styles.pair}>
        <TextInput
          label={t('name')}
          value={fields.productName}
          onChange={(event) => setFields({ ...fields, productName: event.currentTarget.value })}
          maxLength={200}
          data-autofocus
        />
        <TextInput
          label={t('code')}
          value={productCode}
          onChange={(event) => setProductCode(event.currentTarget.value)}
          maxLength={64}
          classNames={{ input: 'mono' }}
          spellCheck={false}
          autoComplete="off"
        />
      </div>
      {environment === 'production' ? (
        // There a product is sold in one mode.
        <Radio.Group label={t('mode')} value={modes[0] ?? ''} onChange={(mode) => setModes([mode as Mode])}>
          <Stack gap={8} mt={6}>
            {MODES.map((mode) => (
              <Radio key={mode} value={mode} label={t(mode)} />
            ))}
          </Stack>
        </Radio.Group>
      ) : (
        <Checkbox.Group label={t('mode')} value={modes} onChange={(chosen) => setModes(chosen as Mode[])}>
          <Stack gap={8} mt={6}>
            {MODES.map((mode) => (
              <Checkbox key={mode} value={mode} label={t(mode)} />
            ))}
          </Stack>
        </Checkbox.Group>
      )}
      <div className={styles.pair}>
        <NumberInput
          label={t('every')}
          value={period}
          onChange={setPeriod}
          min={1}
          max={1200}
          allowDecimal={false}
          allowNegative={false}
        />
        <Select
          label={t('unit')}
          data={[
            { value: 'MONTH', label: t('months') },
            { value: 'DAY', label: t('days') },
          ]}
          value={periodType}
          onChange={(chosen) => (chosen === 'DAY' || chosen === 'MONTH') && setPeriodType(chosen)}
        />
      </div>
      <CommonFields fields={fields} onChange={setFields} />
    </FormDialog>
  );
}

interface NewVersionDialogProps {
  readonly former: Product;
  onMade(product: Product): void;
  onClose(): void;
}

export function NewVersionDialog({ former, onMade, onClose }: NewVersionDialogProps) {
  const t = useTexts();
  const priceText = usePriceText();
  const [productCode, setProductCode] = useState('');
  const [replaces, setReplaces] = useState(former.channels.length > 0);
  const [fields, setFields] = useState<Fields>({
    productName: former.productName,
    price: former.amountCent / 100,
    totalCycles: former.totalCycles,
    benefits: toRows(former.benefits),
    retries: former.retryDelays.map(delayText).join(', '),
  });
  return (
    <FormDialog
      title={t('newVersionTitle', { name: former.productName })}
      verb={t('newVersionVerb')}
      size="lg"
      isIncomplete={!isComplete(fields)}
      onClose={onClose}
      onSubmit={async () => {
        const request: VersionRequest = {
          ...toRequest(fields),
          ...(fields.retries.trim() === '' ? { retryDelays: [] } : {}),
          ...(productCode.trim() === '' ? {} : { productCode: productCode.trim() }),
          replacesForChannels: replaces,
        };
        onMade(await api.post('/products/{formerCode}/versions', { formerCode: former.productCode, ...request }));
      }}
    >
      <p className="quiet">{t('stays', { price: priceText(former) })}</p>
      <div className={styles.pair}>
        <TextInput
          label={t('name')}
          value={fields.productName}
          onChange={(event) => setFields({ ...fields, productName: event.currentTarget.value })}
          maxLength={200}
          data-autofocus
        />
        <TextInput
          label={t('code')}
          placeholder={t('versionCodeHint', {
            code: `${former.versionOf ?? former.productCode}_V${former.version + 1}`,
          })}
          value={productCode}
          onChange={(event) => setProductCode(event.currentTarget.value)}
          maxLength={64}
          classNames={{ input: 'mono' }}
          spellCheck={false}
          autoComplete="off"
        />
      </div>
      <CommonFields fields={fields} onChange={setFields} />
      {former.channels.length > 0 ? (
        <Switch
          label={t('replaces')}
          description={t('replacesHint', { count: former.channels.length })}
          checked={replaces}
          onChange={(event) => setReplaces(event.currentTarget.checked)}
        />
      ) : null}
    </FormDialog>
  );
}

interface CommonFieldsProps {
  readonly fields: Fields;
  onChange(fields: Fields): void;
}

function CommonFields({ fields, onChange }: CommonFieldsProps) {
  const t = useTexts();
  const areRetriesWrong = parseDelays(fields.retries) === undefined;
  return (
    <>
      <div className={styles.pair}>
        <NumberInput
          label={t('amount')}
          prefix={currencySign()}
          value={fields.price}
          onChange={(price) => onChange({ ...fields, price })}
          min={0.01}
          decimalScale={2}
          fixedDecimalScale
          allowNegative={false}
          thousandSeparator=","
          hideControls
        />
        <NumberInput
          label={t('cycles')}
          value={fields.totalCycles}
          onChange={(totalCycles) => onChange({ ...fields, totalCycles })}
          min={1}
          max={9999}
          allowDecimal={false}
          allowNegative={false}
        />
      </div>
      <BenefitRows rows={fields.benefits} onChange={(benefits) => onChange({ ...fields, benefits })} />
      <TextInput
        label={t('retries')}
        description={t('retriesHint')}
        error={areRetriesWrong ? t('retriesWrong') : undefined}
        value={fields.retries}
        onChange={(event) => onChange({ ...fields, retries: event.currentTarget.value })}
        spellCheck={false}
      />
    </>
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
  return (
    <fieldset className={styles.benefits}>
      <legend>{t('benefits')}</legend>
      {rows.map((row) => (
        <div key={row.key} className={styles.benefit}>
          <TextInput
            aria-label={t('benefitCode')}
            placeholder={t('benefitCode')}
            value={row.benefitCode}
            onChange={(event) => change(row.key, { benefitCode: event.currentTarget.value })}
            classNames={{ input: 'mono' }}
            maxLength={64}
            spellCheck={false}
          />
          <TextInput
            aria-label={t('benefitName')}
            placeholder={t('benefitName')}
            value={row.name}
            onChange={(event) => change(row.key, { name: event.currentTarget.value })}
            maxLength={200}
          />
          <NumberInput
            aria-label={t('faceValue')}
            placeholder={t('faceValue')}
            prefix={currencySign()}
            value={row.price}
            onChange={(price) => change(row.key, { price })}
            min={0}
            decimalScale={2}
            fixedDecimalScale
            allowNegative={false}
            hideControls
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
      <div>
        <Button
          variant="default"
          size="xs"
          leftSection={<PlusIcon size={14} />}
          disabled={rows.length >= 50}
          onClick={() =>
            onChange([
              ...rows,
              { key: Math.max(-1, ...rows.map(({ key }) => key)) + 1, benefitCode: '', name: '', price: '' },
            ])
          }
        >
          {t('addBenefit')}
        </Button>
      </div>
    </fieldset>
  );
}
