import type { ImportedCodes } from '../../operator/provisioning/benefits.js';
import type { BenefitFulfilmentView } from '../../operator/provisioning/benefits-sql.js';
import type { ChangedPresentation } from '../../operator/provisioning/presentations.js';
import { paragraphs, type SafeText, safeText } from '../command/safe-text.js';
import { record, table } from '../command/table.js';
import { presentationRows, toUnchangedText } from './branding-text.js';

export function importText({ imported, knownBefore, repeated, served, ...benefit }: ImportedCodes): SafeText {
  const counts = record([
    ['Imported', `${imported}`],
    ['Imported before', `${knownBefore}`],
    ['Repeated in the file', `${repeated}`],
    ['Given to waiting claims', `${served}`],
  ]);
  const parts = [counts, benefitText(benefit)];
  if (benefit.kind !== 'POOL') parts.push(safeText`${benefit.benefitCode} does not take its codes from the pool.`);
  return paragraphs(parts);
}

export function benefitTable(benefits: readonly BenefitFulfilmentView[]): SafeText {
  return table(
    ['BENEFIT', 'NAME', 'KIND', 'SUPPLIER', 'PRODUCTS', 'CODES LEFT', 'WAITING', 'PRESENTED BY'],
    benefits.map((one) => [
      one.benefitCode,
      one.name ?? '',
      one.kind,
      one.supplierUrl ?? '',
      one.products.join(', '),
      `${one.codesLeft}`,
      `${one.waitingClaims}`,
      presentedBy(one),
    ]),
  );
}

/** Lists the parts of the presentation that are set. */
function presentedBy({ presentation }: BenefitFulfilmentView): string {
  const { icon, nameZh, nameEn, descriptionZh, descriptionEn, useUrl } = presentation;
  const parts = { icon, 'name zh': nameZh, 'name en': nameEn, zh: descriptionZh, en: descriptionEn, link: useUrl };
  return Object.entries(parts)
    .flatMap(([name, value]) => (value === null ? [] : [name]))
    .join(', ');
}

export function presentationText({ changed, ...benefit }: ChangedPresentation): SafeText {
  return paragraphs([benefitText(benefit), ...toUnchangedText(changed)]);
}

export function lowStockText(lowStock: number | null): string {
  return lowStock === null ? 'no alert' : `an alert when fewer than ${lowStock} codes are left`;
}

export function benefitText(one: BenefitFulfilmentView): SafeText {
  return record([
    ['Benefit', one.benefitCode],
    ['Name', one.name],
    ['Kind', one.kind],
    ['Supplier', one.supplierUrl ?? 'none'],
    ['Products', one.products.join(', ') || 'none'],
    ['Codes left', `${one.codesLeft}`],
    ['Low stock', one.lowStock === null ? null : lowStockText(one.lowStock)],
    ['Claims waiting', one.waitingSince === null ? 'none' : `${one.waitingClaims}, since ${one.waitingSince}`],
    ...presentationRows(one.presentation),
  ]);
}
