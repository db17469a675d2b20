import type { ProductView } from '../../catalog/products/product-provisioning-sql.js';
import { formatDuration } from '../command/parse.js';
import type { SafeText } from '../command/safe-text.js';
import { record, table } from '../command/table.js';
import type { MoneyText } from '../operation.js';

export function productTable(products: readonly ProductView[], money: MoneyText): SafeText {
  return table(
    ['CODE', 'NAME', 'MODES', 'CYCLE', 'AMOUNT', 'BENEFITS', 'CHANNELS'],
    products.map((product) => [
      product.productCode,
      product.productName,
      product.settlementModes.join(', '),
      cycleText(product),
      money(product.amountCent),
      product.benefits.map(({ benefitCode }) => benefitCode).join(', '),
      `${product.channels.length}`,
    ]),
  );
}

export function productText(product: ProductView, money: MoneyText): SafeText {
  const benefits = product.benefits.map(
    ({ benefitCode, name, faceValueCent }) => `${benefitCode} ${money(faceValueCent)} (${name})`,
  );
  return record([
    ['Code', product.productCode],
    ['Name', product.productName],
    ['Name in Chinese', product.nameZh],
    ['Name in English', product.nameEn],
    ['Version', product.versionOf && `${product.version} of ${product.versionOf}`],
    ['Settlement modes', product.settlementModes.join(', ')],
    ['Cycle', cycleText(product)],
    ['Amount', `${money(product.amountCent)} per period`],
    ...(benefits.length === 0 ? ['none'] : benefits).map((line) => ['Benefit', line] as const),
    ['Retries after', product.retryDelays.map(formatDuration).join(', ') || 'none'],
    ['Channels', product.channels.join(', ') || 'none'],
    ['Created', product.createdAt],
  ]);
}

function cycleText({ period, periodType, totalCycles }: ProductView): string {
  return `${totalCycles} x ${period} ${periodType}`;
}
