import type { Static } from '@perennial/wire';
import { type PeriodType, periodTypes, settlementModes } from '@perennial/wire/enums';
import type { ChannelView } from '../../catalog/channels/channel-provisioning-sql.js';
import {
  deleteProductAuthorization,
  describeProducts,
  hasProduct,
  insertProduct,
  insertProductAuthorization,
  listChannelsOfProduct,
  lockLatestVersion,
  type NewProduct,
  type ProductView,
  storeProductNames,
} from '../../catalog/products/product-provisioning-sql.js';
import type { Queryable } from '../../platform/db/database.js';
import { DEFAULT_RETRY_DELAYS } from '../../subscriptions/domain/payments/debit-policy.js';
import { recordAudit } from '../audit/audit.js';
import { type Changed, inTransaction, type Operator, refusal } from '../operator.js';
import {
  createNotFound,
  quoted,
  requireAtMost,
  requireCode,
  requireFound,
  requireInteger,
  requireName,
  requireOneOf,
  requireShownText,
  requireUnique,
} from '../rules.js';
import type { Asked } from '../schemas/parts.js';
import type { productNames, productRequest, versionRequest } from '../schemas/setup.js';
import { changeChannel } from './channel-change.js';
import { type Authorized, findPeriodWarnings } from './period-rules.js';
import { describeChange, readTexts } from './seller-values.js';

/** A product to create. Retry delays are seconds after each failed attempt. Empty: no retries. Unset: the default. */
type ProductInput = Asked<Static<typeof productRequest>>;

/** Creates a product. A product never changes: different terms need a new product or version. */
export async function createProduct(operator: Operator, input: ProductInput): Promise<ProductView> {
  const product = requireProductInput(operator, input);
  return inTransaction(operator, async (tx) => {
    if (!(await insertProduct(tx, product))) {
      throw refusal('product-exists')`there is already a product ${quoted(product.productCode)}`;
    }
    const { productCode: subject, ...detail } = product;
    await recordAudit(tx, { actor: operator.actor, action: 'product.create', subject, detail });
    return requireProductView(tx, subject);
  });
}

/**
 * Creates a new version of a product. The version is a product with its own code, so that running orders keep the
 * former version. Unset values are copied from the former version. The default code is the first version's code with
 * `_V2` and so on. The period and the mode cannot change.
 */
export async function createProductVersion(
  operator: Operator,
  {
    formerCode,
    productCode: asked,
    replacesForChannels = false,
    ...changes
  }: Asked<Static<typeof versionRequest>> & { readonly formerCode: string },
): Promise<ProductView> {
  return inTransaction(operator, async (tx, joined) => {
    const former = await requireProductView(tx, formerCode);
    const versionOf = former.versionOf ?? former.productCode;
    const version = (await lockLatestVersion(tx, versionOf)) + 1;
    const productCode = asked ?? `${versionOf}_V${version}`;
    const { productName = former.productName } = changes;
    const { nameZh, nameEn } = productName === former.productName ? former : NO_NAMES;
    const input = requireProductInput(operator, { ...former, ...changes, productCode });
    const product = { ...input, version, versionOf, nameZh, nameEn };
    if (!(await insertProduct(tx, product))) {
      throw refusal('product-exists')`there is already a product ${quoted(productCode)}`;
    }
    const { productCode: subject, ...fields } = product;
    const detail = { ...fields, formerCode, replacesForChannels };
    await recordAudit(tx, { actor: operator.actor, action: 'product.create-version', subject, detail });
    for (const appId of replacesForChannels ? await listChannelsOfProduct(tx, formerCode) : []) {
      await authorizeProduct(joined, { appId, productCode });
      await withdrawProduct(joined, { appId, productCode: formerCode });
    }
    return requireProductView(tx, productCode);
  });
}

const MAX_NAME = 120;

/** Changes the names that users see on the redemption page. Everything else of a product stays as it is. */
export async function setProductNames(
  operator: Operator,
  { productCode, ...input }: { readonly productCode: string } & Asked<Static<typeof productNames>>,
): Promise<Changed<ProductView>> {
  const texts = readTexts(
    {
      nameZh: (text: string) => requireShownText('the Chinese name', text, MAX_NAME),
      nameEn: (text: string) => requireShownText('the English name', text, MAX_NAME),
    },
    input,
  );
  if (Object.keys(texts).length === 0) {
    throw refusal('nothing-to-change')`there is nothing to change; give at least one value`;
  }
  return inTransaction(operator, async (tx) => {
    await requireProductView(tx, productCode);
    await lockLatestVersion(tx, productCode);
    const { nameZh, nameEn } = await requireProductView(tx, productCode);
    const to = { nameZh, nameEn, ...texts };
    const detail = describeChange({ nameZh, nameEn }, to);
    if (detail) {
      await storeProductNames(tx, { productCode, ...to });
      await recordAudit(tx, { actor: operator.actor, action: 'product.set-names', subject: productCode, detail });
    }
    return { ...(await requireProductView(tx, productCode)), changed: detail !== undefined };
  });
}

export async function listProducts(operator: Operator): Promise<ProductView[]> {
  return describeProducts(operator.database);
}

export async function showProduct(operator: Operator, input: { readonly productCode: string }): Promise<ProductView> {
  return requireProductView(operator.database, input.productCode);
}

interface ProductAuthorizationInput {
  readonly appId: string;
  readonly productCode: string;
}

export async function authorizeProduct(
  operator: Operator,
  { appId, productCode }: ProductAuthorizationInput,
): Promise<Authorized> {
  return inTransaction(operator, async (outer, joined) => {
    const view = await changeChannel(joined, appId, 'channel.authorize-product', async (tx, { channelId }) => {
      if (!(await hasProduct(tx, productCode))) throw createNotFound('product', productCode);
      return (await insertProductAuthorization(tx, channelId, productCode)) ? { productCode } : undefined;
    });
    return { ...view, warnings: view.changed ? await findPeriodWarnings(outer, view, { productCode }) : [] };
  });
}

export async function withdrawProduct(
  operator: Operator,
  { appId, productCode }: ProductAuthorizationInput,
): Promise<Changed<ChannelView>> {
  return changeChannel(operator, appId, 'channel.withdraw-product', async (tx, { channelId }) => {
    if (!(await hasProduct(tx, productCode))) throw createNotFound('product', productCode);
    return (await deleteProductAuthorization(tx, channelId, productCode)) ? { productCode } : undefined;
  });
}

async function requireProductView(db: Queryable, productCode: string): Promise<ProductView> {
  return requireFound(await describeProducts(db, productCode), 'product', productCode);
}

const NO_NAMES = { nameZh: null, nameEn: null };
const MAX_AMOUNT_CENT = 100_000_000_000;
const MAX_BENEFITS = 50;
const MAX_RETRIES = 10;
const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;
const PERIODS_PER_YEAR: Readonly<Record<PeriodType, number>> = { DAY: 365, MONTH: 12 };
/** Limits a subscription's length: times have four-digit years, so all periods must be due before the year 10000. */
const MAX_YEARS = 7000;

function requireProductInput({ environment }: Operator, input: ProductInput): NewProduct {
  const modes = input.settlementModes.map((mode) => requireOneOf('a settlement mode', mode, settlementModes));
  requireUnique('settlement mode', modes);
  if (modes.length === 0) throw refusal('product-without-mode')`a product needs a settlement mode`;
  if (environment === 'production' && modes.length > 1) {
    throw refusal('product-of-one-mode')`a production product is sold in exactly one settlement mode`;
  }
  const periodType = requireOneOf('the period type', input.periodType, periodTypes);
  const period = requireInteger('the period', input.period, 1, 1200);
  const totalCycles = requireInteger('the number of cycles', input.totalCycles, 1, 9999);
  if ((period * totalCycles) / PERIODS_PER_YEAR[periodType] > MAX_YEARS) {
    throw refusal(
      'product-too-long',
    )`${totalCycles} cycles of ${period} ${periodType} are more than ${MAX_YEARS} years`;
  }
  requireAtMost('benefits', input.benefits, MAX_BENEFITS);
  const benefits = input.benefits.map((benefit) => ({
    benefitCode: requireCode('a benefit code', benefit.benefitCode),
    name: requireName('the name of a benefit', benefit.name),
    faceValueCent: requireInteger('the face value of a benefit', benefit.faceValueCent, 0, MAX_AMOUNT_CENT),
  }));
  requireUnique(
    'benefit',
    benefits.map((benefit) => benefit.benefitCode),
  );
  const retryDelays = input.retryDelays ?? DEFAULT_RETRY_DELAYS[periodType];
  requireAtMost('retries', retryDelays, MAX_RETRIES);
  for (const delay of retryDelays) requireInteger('the seconds before a retry', delay, 1 * MINUTE, 30 * DAY);
  return {
    productCode: requireCode('the product code', input.productCode),
    productName: requireName('the product name', input.productName),
    settlementModes: modes,
    periodType,
    period,
    totalCycles,
    amountCent: requireInteger('the amount in cents', input.amountCent, 1, MAX_AMOUNT_CENT),
    benefits,
    retryDelays,
    version: 1,
    versionOf: null,
    ...NO_NAMES,
  };
}
