import type { Static } from '@perennial/wire';
import type { ChannelView } from '../../catalog/channels/channel-provisioning-sql.js';
import { describeProducts, type ProductView } from '../../catalog/products/product-provisioning-sql.js';
import type { Queryable } from '../../platform/db/database.js';
import type { Changed } from '../operator.js';
import type { periodWarning } from '../schemas/setup.js';

/**
 * Warnings about Alipay's rules for periodic debits (https://opendocs.alipay.com/open/00a05b). The service cannot
 * enforce the rules, because they concern agreements that are signed elsewhere. It warns the operator who authorizes a
 * channel for a product or a payment channel, if debits may break these rules.
 */
export type PeriodWarning = Static<typeof periodWarning>;
type PeriodRule = PeriodWarning['rule'];

/** A channel after an authorization, with warnings for the operator. */
export type Authorized = Changed<ChannelView> & { readonly warnings: readonly PeriodWarning[] };

const FEWEST_DAYS = 7;

/** Recognizes Alipay by the payment channel's code, such as ALIPAY or ALIPAY_2. */
const isAlipay = (paymentChannelCode: string) => /^ALIPAY/i.test(paymentChannelCode);

/**
 * Returns warnings for one product with all payment channels of the channel, or for one payment channel with all
 * products.
 */
export async function findPeriodWarnings(
  db: Queryable,
  { products, paymentChannels }: Pick<ChannelView, 'products' | 'paymentChannels'>,
  only: { readonly productCode: string } | { readonly paymentChannelCode: string },
): Promise<readonly PeriodWarning[]> {
  const codes = 'paymentChannelCode' in only ? [only.paymentChannelCode] : paymentChannels.map(({ code }) => code);
  const alipays = codes.filter(isAlipay);
  if (alipays.length === 0) return [];
  const sold = 'productCode' in only ? [only.productCode] : products;
  const views = (await describeProducts(db)).filter(({ productCode }) => sold.includes(productCode));
  return views.flatMap((product) =>
    alipays.flatMap((paymentChannelCode) =>
      rulesFor(product).map((rule) => ({ rule, productCode: product.productCode, paymentChannelCode })),
    ),
  );
}

function rulesFor({ settlementModes, periodType, period }: ProductView): readonly PeriodRule[] {
  // In the mode CHANNEL_COLLECT the service debits nothing, so no rule applies.
  if (!settlementModes.includes('SVC_DEDUCT')) return [];
  if (periodType === 'MONTH') return ['days-of-month', 'once-a-cycle', 'single-amount'];
  return [...(period < FEWEST_DAYS ? (['days-too-few'] as const) : []), 'once-a-cycle', 'single-amount'];
}

const TEXTS: Readonly<Record<PeriodRule, string>> = {
  'days-too-few': `Alipay does not sign agreements for periods of fewer than ${FEWEST_DAYS} days: no debit of this product can succeed`,
  'days-of-month':
    'Alipay makes monthly debits only on days 1 to 28: orders created on day 29, 30 or 31 fall due on days that it refuses',
  'once-a-cycle':
    'Alipay allows one debit in each cycle of an agreement: sign it with the period of this product, and use it for no other product',
  'single-amount':
    'Alipay debits at most single_amount of the agreement: sign it with at least the price of this product',
};

/** Formats a warning in English, for a terminal. */
export function periodWarningText({ rule, productCode, paymentChannelCode }: PeriodWarning): string {
  return `Warning: ${productCode} by ${paymentChannelCode}: ${TEXTS[rule]}.`;
}
