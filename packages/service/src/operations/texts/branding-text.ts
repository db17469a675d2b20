import type { BrandingView } from '../../catalog/channels/channel-provisioning-sql.js';
import type { ImageView } from '../../catalog/image-file-sql.js';
import type { PresentationView } from '../../operator/provisioning/benefits-sql.js';
import type { ChangedBranding } from '../../operator/provisioning/branding.js';
import { measureTones } from '../../redeem/brand/tones.js';
import { paragraphs, type SafeText, safeText } from '../command/safe-text.js';
import { record } from '../command/table.js';

type Row = readonly [string, string | null];

/** Lists the parts of the branding that are set, with the tones derived from the accent colour. */
export function brandingRows({ displayName, logo, accent, support, termsUrl, shopUrl }: BrandingView) {
  return rowsOrNone('Branding', [
    ['Display name', displayName],
    ['Logo', imageText(logo)],
    ['Accent', accent === null ? null : `#${accent}`],
    ...(accent === null ? [] : toneRows(accent)),
    ['Support', support],
    ['Terms', termsUrl],
    ['Shop', shopUrl],
  ]);
}

/** Lists the parts of the presentation that are set. */
export function presentationRows({ icon, nameZh, nameEn, descriptionZh, descriptionEn, useUrl }: PresentationView) {
  return rowsOrNone('Presentation', [
    ['Icon', imageText(icon)],
    ['Name in Chinese', nameZh],
    ['Name in English', nameEn],
    ['In Chinese', descriptionZh],
    ['In English', descriptionEn],
    ['Used at', useUrl],
  ]);
}

const rowsOrNone = (name: string, rows: readonly Row[]): readonly Row[] =>
  rows.every(([, value]) => value === null) ? [[name, 'none']] : rows;

const imageText = (image: ImageView | null): string | null => image && `${image.file} (${image.bytes} bytes)`;

function toneRows(accent: string): Row[] {
  const tones = measureTones(accent);
  return (['light', 'dark'] as const).map((theme) => {
    const parts = tones
      .filter((one) => one.theme === theme)
      .map(({ tone, colour, contrast }) => `${tone} ${colour} (${contrast}:1)`);
    return [`Tones, ${theme}`, parts.join(', ')];
  });
}

export function toUnchangedText(changed: boolean): SafeText[] {
  return changed ? [] : [safeText`Nothing changed.`];
}

export function brandingText({ branding, changed }: ChangedBranding): SafeText {
  return paragraphs([record(brandingRows(branding)), ...toUnchangedText(changed)]);
}
