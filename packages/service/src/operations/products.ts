import type { PeriodType } from '@perennial/wire';
import {
  createProduct,
  createProductVersion,
  listProducts,
  setProductNames,
  showProduct,
} from '../operator/provisioning/products.js';
import * as schemas from '../operator/schemas/setup.js';
import { DEFAULT_RETRY_DELAYS } from '../subscriptions/domain/payments/debit-policy.js';
import { appendBenefit, formatDuration, parseDurations } from './command/parse.js';
import { safeText } from './command/safe-text.js';
import { operation } from './operation.js';
import { productTable, productText } from './texts/product-text.js';

const defaultRetries = (periodType: PeriodType) =>
  `${DEFAULT_RETRY_DELAYS[periodType].map(formatDuration).join(',')} for ${periodType}`;

export const productOperations = [
  operation({
    method: 'GET',
    path: '/products',
    summary: 'All products',
    answer: schemas.products,
    run: listProducts,
    toAnswer: (products) => ({ products }),
    command: { usage: 'product list', examples: ['list', 'list --json'], text: productTable },
  }),
  operation({
    method: 'POST',
    path: '/products',
    role: 'admin',
    // Requires a confirmed identity, because the operation sets a price.
    needsProof: true,
    summary: 'Create a product, of which only the names for users can be changed afterwards',
    body: schemas.productRequest,
    answer: schemas.product,
    run: createProduct,
    command: {
      usage: 'product create <product-code>',
      inCells: () => ({}),
      examples: [
        'create VIP_MONTHLY --name "VIP, monthly" --mode SVC_DEDUCT --period-type MONTH --cycles 12 \\\n' +
          '      --amount-cent 1990 --benefit "VIP_PASS:1500:VIP pass" --benefit COUPON:490',
        'create DAY_7 --name "Seven days" --mode CHANNEL_COLLECT --period-type DAY --cycles 7 --amount-cent 100',
      ],
      defaults: { period: 1, benefits: [] },
      fields: {
        productName: ['--name <text>', 'name of the product'],
        settlementModes: ['--mode <mode>', 'SVC_DEDUCT or CHANNEL_COLLECT; in the sandbox also both, comma-separated'],
        periodType: ['--period-type <type>', 'DAY or MONTH (calendar months)'],
        period: ['--period <n>', 'days or months in one period (default: 1)'],
        totalCycles: ['--cycles <n>', 'number of periods, at most 9999'],
        amountCent: ['--amount-cent <n>', 'price of one period, in cents'],
        benefits: ['--benefit <code:cents[:name]>', 'a benefit of every period; may be repeated', appendBenefit],
        retryDelays: [
          '--retry <delays>',
          `delays before the retries of a failed debit, or none (default: ${defaultRetries('DAY')}, ${defaultRetries('MONTH')})`,
          parseDurations,
        ],
      },
      text: productText,
    },
  }),
  operation({
    method: 'GET',
    path: '/products/{productCode}',
    summary: 'One product',
    answer: schemas.product,
    run: showProduct,
    command: { usage: 'product show <product-code>', examples: ['show TEST_SPU_001'], text: productText },
  }),
  operation({
    method: 'PUT',
    path: '/products/{productCode}/names',
    role: 'admin',
    summary: 'Change the names that users see on the redemption page, in Chinese and English; null removes a name',
    body: schemas.productNames,
    answer: schemas.productChanged,
    run: setProductNames,
    toAnswer: ({ changed, ...product }) => ({ product, changed }),
    command: {
      usage: 'product set-names <product-code>',
      inCells: () => ({}),
      summary: 'change the names that users see; none removes a name',
      examples: ['set-names VIP_MONTHLY --zh 会员月卡 --en "VIP, monthly"', 'set-names VIP_MONTHLY --en none'],
      fields: {
        nameZh: ['--zh <text>', 'name in Chinese, at most 120 characters, or none'],
        nameEn: ['--en <text>', 'name in English, at most 120 characters, or none'],
      },
      text: (set, money) =>
        set.changed ? productText(set, money) : safeText`${productText(set, money)}\n\nNothing changed.`,
    },
  }),
  operation({
    method: 'POST',
    path: '/products/{formerCode}/versions',
    role: 'admin',
    needsProof: true,
    summary: 'Create a new version of a product with its own code; running orders keep theirs',
    body: schemas.versionRequest,
    answer: schemas.product,
    run: createProductVersion,
    secondPerson: { chosen: ({ productCode }) => ({ productCode }) },
    command: {
      usage: 'product create-version <product-code>',
      inCells: ({ productCode }) => ({ productCode }),
      examples: [
        'create-version VIP_MONTHLY --amount-cent 2190',
        'create-version VIP_MONTHLY --amount-cent 2190 --replace',
      ],
      fields: {
        formerCode: ['<product-code>', 'previous version'],
        productCode: ['--code <code>', 'its code (default: that of the first version with _V2 and so on)'],
        productName: ['--name <text>', 'its name (default: as before)'],
        amountCent: ['--amount-cent <n>', 'price of one period, in cents (default: as before)'],
        totalCycles: ['--cycles <n>', 'number of periods, at most 9999 (default: as before)'],
        benefits: [
          '--benefit <code:cents[:name]>',
          'a benefit of every period; may be repeated (default: as before)',
          appendBenefit,
        ],
        retryDelays: [
          '--retry <delays>',
          'delays before the retries of a failed debit, or none (default: as before)',
          parseDurations,
        ],
        replacesForChannels: ['--replace', 'let the channels that sell the previous version sell this one instead'],
      },
      text: productText,
    },
  }),
];
