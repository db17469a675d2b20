import type { BrandingView } from '../../../catalog/channels/channel-provisioning-sql.js';
import type { ImageView } from '../../../catalog/image-file-sql.js';
import { measureTones } from '../../../redeem/brand/tones.js';

/** What users see of a channel, with the tones that are made of its accent. */
export function brandingRows(branding: BrandingView): [string, string][] {
  const { displayName, logo, accent, support, termsUrl, shopUrl } = branding;
  return [
    ['Display name', displayName ?? 'none'],
    ['Logo', imageText(logo)],
    ['Accent', accent === null ? 'none' : `#${accent}`],
    ...(accent === null ? [] : toneRows(accent)),
    ['Support', support ?? 'none'],
    ['Terms', termsUrl ?? 'none'],
    ['Shop', shopUrl ?? 'none'],
  ];
}

export function imageText(image: ImageView | null): string {
  return image === null ? 'none' : `${image.file} (${image.bytes} bytes)`;
}

function toneRows(accent: string): [string, string][] {
  const tones = measureTones(accent);
  return (['light', 'dark'] as const).map((theme) => {
    const parts = tones
      .filter((one) => one.theme === theme)
      .map(({ tone, colour, contrast }) => `${tone} ${colour} (${contrast}:1)`);
    return [`Tones, ${theme}`, parts.join(', ')];
  });
}
