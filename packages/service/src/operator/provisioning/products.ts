import { type PeriodType, periodTypes, settlementModes } from '@perennial/wire/enums';
import type { ChannelView } from '../../catalog/channels/channel-provisioning-sql.js';
import {
  deleteProductAuthorization,
  describeProducts,
  hasProduct,
  insertProduct,
  insertProductAuthorization,
  type NewProduct,
  type ProductBenefitView,
  type ProductView,
} from '../../catalog/products/product-provisioning-sql.js';
import type { Queryable } from '../../platform/db/database.js';
import { recordAudit } from '../audit.js';
import { type Changed, inTransaction, type Operator, OperatorError } from '../operator.js';
import {
  quoted,
  requireAtMost,
  requireCode,
  requireInteger,
  requireName,
  requireOneOf,
  requireUnique,
} from '../rules.js';
import { changeChannel } from './channel-change.js';

export interface CreateProductInput {
  readonly productCode: string;
  readonly productName: string;
  readonly settlementModes: readonly string[];
  readonly periodType: string;
  readonly period: number;
  readonly totalCycles: number;
  readonly amountCent: number;
  readonly benefits: readonly ProductBenefitView[];
  /** Seconds after each failed attempt; empty: no retries. Unset: the period type's usual ones. */
  readonly retryDelays?: readonly number[];
}

/** A product never changes: another cycle, price or mode is another product. */
export async function createProduct(operator: Operator, input: CreateProductInput): Promise<ProductView> {
  const product = requireProduct(operator, input);
  return inTransaction(operator, async (tx) => {
    if (!(await insertProduct(tx, product))) {
      throw new OperatorError(`there is already a product ${quoted(product.productCode)}`);
    }
    const { productCode: subject, ...detail } = product;
    await recordAudit(tx, { actor: operator.actor, action: 'product.create', subject, detail });
    return viewOf(tx, subject);
  });
}

export async function listProducts(operator: Operator): Promise<ProductView[]> {
  return describeProducts(operator.database);
}

export async function showProduct(operator: Operator, input: { readonly productCode: string }): Promise<ProductView> {
  return viewOf(operator.database, input.productCode);
}

export interface ProductAuthorizationInput {
  readonly appId: string;
  readonly productCode: string;
}

export async function authorizeProduct(
  operator: Operator,
  { appId, productCode }: ProductAuthorizationInput,
): Promise<Changed<ChannelView>> {
  return changeChannel(operator, appId, 'channel.authorize-product', async (tx, { channelId }) => {
    if (!(await hasProduct(tx, productCode))) throw noProduct(productCode);
    return (await insertProductAuthorization(tx, channelId, productCode)) ? { productCode } : undefined;
  });
}

export async function withdrawProduct(
  operator: Operator,
  { appId, productCode }: ProductAuthorizationInput,
): Promise<Changed<ChannelView>> {
  return changeChannel(operator, appId, 'channel.withdraw-product', async (tx, { channelId }) => {
    if (!(await hasProduct(tx, productCode))) throw noProduct(productCode);
    return (await deleteProductAuthorization(tx, channelId, productCode)) ? { productCode } : undefined;
  });
}

async function viewOf(db: Queryable, productCode: string): Promise<ProductView> {
  const [product] = await describeProducts(db, productCode);
  if (!product) throw noProduct(productCode);
  return product;
}

function noProduct(productCode: string): OperatorError {
  return new OperatorError(`there is no product ${quoted(productCode)}`);
}

const MOST_AMOUNT_CENT = 100_000_000_000;
const MOST_BENEFITS = 50;
const MOST_RETRIES = 10;
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const USUAL_RETRY_DELAYS: Readonly<Record<PeriodType, readonly number[]>> = {
  DAY: [1 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR],
  MONTH: [1 * DAY, 3 * DAY, 5 * DAY, 7 * DAY],
};
const PER_YEAR: Readonly<Record<PeriodType, number>> = { DAY: 365, MONTH: 12 };
/** Times are written with four digits of year, so every period must fall due before the year 10000. */
const MOST_YEARS = 7000;

function requireProduct({ environment }: Operator, input: CreateProductInput): NewProduct {
  const modes = input.settlementModes.map((mode) => requireOneOf('a settlement mode', mode, settlementModes));
  requireUnique('settlement mode', modes);
  if (modes.length === 0) throw new OperatorError('a product needs a settlement mode');
  if (environment === 'production' && modes.length > 1) {
    throw new OperatorError('a production product is sold in exactly one settlement mode');
  }
  const periodType = requireOneOf('the period type', input.periodType, periodTypes);
  const period = requireInteger('the period', input.period, 1, 1200);
  const totalCycles = requireInteger('the number of cycles', input.totalCycles, 1, 9999);
  if ((period * totalCycles) / PER_YEAR[periodType] > MOST_YEARS) {
    throw new OperatorError(`${totalCycles} cycles of ${period} ${periodType} are more than ${MOST_YEARS} years`);
  }
  requireAtMost('benefits', input.benefits, MOST_BENEFITS);
  const benefits = input.benefits.map((benefit) => ({
    benefitCode: requireCode('a benefit code', benefit.benefitCode),
    name: requireName('the name of a benefit', benefit.name),
    faceValueCent: requireInteger('the face value of a benefit', benefit.faceValueCent, 0, MOST_AMOUNT_CENT),
  }));
  requireUnique(
    'benefit',
    benefits.map((benefit) => benefit.benefitCode),
  );
  const retryDelays = input.retryDelays ?? USUAL_RETRY_DELAYS[periodType];
  requireAtMost('retries', retryDelays, MOST_RETRIES);
  for (const delay of retryDelays) requireInteger('the seconds before a retry', delay, 1 * MINUTE, 30 * DAY);
  return {
    productCode: requireCode('the product code', input.productCode),
    productName: requireName('the product name', input.productName),
    settlementModes: modes,
    periodType,
    period,
    totalCycles,
    amountCent: requireInteger('the amount in cents', input.amountCent, 1, MOST_AMOUNT_CENT),
    benefits,
    retryDelays,
  };
}
