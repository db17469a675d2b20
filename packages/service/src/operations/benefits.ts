import { findFulfilment } from '../fulfilment/fulfilment-settings-sql.js';
import type { Operator } from '../operator/operator.js';
import {
  importCodes,
  listBenefits,
  setFulfilment,
  setLowStock,
  showBenefit,
  withdrawCodes,
} from '../operator/provisioning/benefits.js';
import type { BenefitFulfilmentView } from '../operator/provisioning/benefits-sql.js';
import { setPresentation } from '../operator/provisioning/presentations.js';
import * as schemas from '../operator/schemas/setup.js';
import { MAX_UPLOAD_BYTES, readFileInPieces, readKeyOption, readPictureFile, toBytes } from './command/files.js';
import { parseWholeNumber } from './command/parse.js';
import { safeText } from './command/safe-text.js';
import { command, operation } from './operation.js';
import { readPicture } from './picture-field.js';
import { benefitTable, benefitText, importText, lowStockText, presentationText } from './texts/benefit-text.js';

/** Includes the role support, because a pool may become empty at night and must be refilled then. */
const WHO_REFILLS = ['support', 'admin'] as const;

export const benefitOperations = [
  operation({
    method: 'GET',
    path: '/benefits',
    summary: 'All benefits with their codes and waiting claims',
    answer: schemas.benefits,
    run: listBenefits,
    toAnswer: (benefits) => ({ benefits: benefits.map(toBenefitView) }),
    command: { usage: 'benefit list', examples: ['list', 'list --json'], text: benefitTable },
  }),
  command({
    usage: 'benefit show <benefit-code>',
    summary: 'one benefit with its codes and waiting claims',
    examples: ['show COUPON'],
    run: showBenefit,
    text: benefitText,
  }),
  operation({
    method: 'PUT',
    path: '/benefits/{benefitCode}/fulfilment',
    role: 'admin',
    needsProof: true,
    summary: 'Set the source of a benefit’s codes, for new claims',
    body: schemas.fulfilmentRequest,
    answer: schemas.benefitChanged,
    run: (operator, { supplierKey: key, ...input }) =>
      setFulfilment(operator, { ...input, ...(key === undefined ? {} : { supplierKey: readKey(key) }) }),
    secondPerson: { chosen: chooseWrappedKey },
    toAnswer: ({ changed, ...benefit }) => ({ benefit: toBenefitView(benefit), changed }),
    command: {
      usage: 'benefit set-fulfilment <benefit-code>',
      inCells: () => ({}),
      examples: [
        'set-fulfilment COUPON --kind pool',
        'set-fulfilment VIP_PASS --kind supplier --url https://supplier.example/codes --key-file supplier.key',
      ],
      fields: {
        kind: ['--kind <kind>', 'generated (made here, the default of every benefit), pool (imported) or supplier'],
        supplierUrl: ['--url <url>', 'address of the supplier'],
        supplierKey: ['--key-file <file>', 'key shared with the supplier, 32 bytes in base64', readKeyOption],
      },
      text: (set) => (set.changed ? benefitText(set) : safeText`${benefitText(set)}\n\nNothing changed.`),
    },
  }),
  operation({
    method: 'PUT',
    path: '/benefits/{benefitCode}/presentation',
    role: 'admin',
    // Requires a confirmed identity, because the links lead users to other sites.
    needsProof: true,
    summary: 'Change how a benefit is presented to users, all given parts or none; null removes a part',
    body: schemas.presentationChange,
    answer: schemas.presentationChanged,
    run: (operator, { icon, ...texts }) => setPresentation(operator, { ...texts, ...readPicture('icon', icon) }),
    secondPerson: {},
    toAnswer: ({ changed, leftOut, ...benefit }) => ({ benefit: toBenefitView(benefit), leftOut, changed }),
    command: {
      usage: 'benefit set-presentation <benefit-code>',
      inCells: () => ({}),
      summary: 'change its names, icon, descriptions and link; none removes a part',
      examples: [
        'set-presentation VIP_PASS --icon pass.svg --zh 全场通用 --en "For everything in the shop"',
        'set-presentation VIP_PASS --use-url https://shop.example/redeem',
        'set-presentation VIP_PASS --name-zh 会员权益 --name-en "VIP pass"',
        'set-presentation VIP_PASS --icon none',
      ],
      fields: {
        icon: ['--icon <file>', 'SVG or PNG of at most 64 KiB, or none', readPictureFile],
        nameZh: ['--name-zh <text>', 'name in Chinese, at most 120 characters, or none'],
        nameEn: ['--name-en <text>', 'name in English, at most 120 characters, or none'],
        descriptionZh: ['--zh <text>', 'description in Chinese, at most 120 characters, or none'],
        descriptionEn: ['--en <text>', 'description in English, at most 120 characters, or none'],
        useUrl: ['--use-url <url>', 'address where its codes are used, or none'],
      },
      text: presentationText,
    },
  }),
  operation({
    method: 'POST',
    path: '/benefits/{benefitCode}/codes',
    role: WHO_REFILLS,
    summary: 'Add codes to the pool, one per line or in a column named code, all or none',
    maxBodyBytes: MAX_UPLOAD_BYTES,
    body: schemas.codesRequest,
    answer: schemas.codesAnswer,
    run: (operator, { benefitCode, codes }) => importCodes(operator, { benefitCode, file: toBytes(codes) }),
    toAnswer: ({ imported, knownBefore, repeated, served, ...benefit }) => ({
      benefit: toBenefitView(benefit),
      imported,
      knownBefore,
      repeated,
      served,
    }),
    command: {
      usage: 'benefit import-codes <benefit-code> <file>',
      examples: ['import-codes COUPON codes.csv'],
      fields: { codes: ['<file>', 'the codes', readFileInPieces('the codes')] },
      text: importText,
    },
  }),
  operation({
    method: 'PUT',
    path: '/benefits/{benefitCode}/low-stock',
    role: WHO_REFILLS,
    summary: 'Set the number of codes in the pool below which an alert is raised',
    body: schemas.lowStockRequest,
    answer: schemas.benefitChanged,
    run: setLowStock,
    toAnswer: ({ changed, ...benefit }) => ({ benefit: toBenefitView(benefit), changed }),
    command: {
      usage: 'benefit set-low-stock <benefit-code> <codes>',
      inCells: () => ({}),
      examples: ['set-low-stock COUPON 500', 'set-low-stock COUPON none'],
      fields: { lowStock: ['<codes>', 'how many, or none'] },
      text: ({ benefitCode, lowStock }) => `low stock of ${benefitCode}: ${lowStockText(lowStock)}`,
    },
  }),
  command({
    usage: 'benefit withdraw-codes <benefit-code> <codes>',
    summary: 'withdraw the oldest codes of the pool, after a restore, because users may already have them',
    examples: ['withdraw-codes COUPON 500'],
    fields: { codes: ['<codes>', 'how many', parseWholeNumber] },
    run: (operator, { benefitCode, codes }) => withdrawCodes(operator, { benefitCode, codes: Number(codes) }),
    text: ({ withdrawn, ...benefit }) => safeText`withdrew ${withdrawn} codes\n\n${benefitText(benefit)}`,
  }),
];

/** Replaces the key by the key as the trial run has wrapped it, for the address of the trial run. */
async function chooseWrappedKey(
  _: unknown,
  { benefitCode, supplierKey }: { readonly benefitCode: string; readonly supplierKey?: string },
  { database }: Operator,
) {
  if (supplierKey === undefined) return {};
  const { supplierUrl, supplierKey: wrappedKey } = (await findFulfilment(database, benefitCode)) ?? {};
  return { supplierKey: undefined, supplierUrl, wrappedKey };
}

/** Shows the number of codes left only if the benefit has a pool or if codes were ever imported. */
function toBenefitView(view: BenefitFulfilmentView) {
  const { codesLeft, hasPool, waitingClaims: claimsWaiting, waitingSince: _, ...benefit } = view;
  return { ...benefit, codesLeft: hasPool || benefit.kind === 'POOL' ? codesLeft : null, claimsWaiting };
}

/**
 * Returns the key, or an empty array if the text is not strict base64. The step refuses an empty array for its length.
 */
function readKey(base64: string): Uint8Array {
  const key = Buffer.from(base64, 'base64');
  return key.toString('base64') === base64 ? key : new Uint8Array();
}
