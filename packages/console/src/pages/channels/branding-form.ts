import type { Branding, BrandingChange } from '../../api/types.ts';
import type { PictureChange } from '../../parts/picture-field.tsx';

const TEXTS = ['displayName', 'accent', 'support', 'termsUrl', 'shopUrl'] as const;
export type BrandingText = (typeof TEXTS)[number];

/** What is typed in the form. */
export type BrandingTexts = Readonly<Record<BrandingText, string>>;

export const textsOf = (branding: Branding): BrandingTexts => ({
  displayName: branding.displayName ?? '',
  accent: branding.accent === null ? '' : `#${branding.accent}`,
  support: branding.support ?? '',
  termsUrl: branding.termsUrl ?? '',
  shopUrl: branding.shopUrl ?? '',
});

/** What is another than what is stored; undefined when nothing is. */
export function changeOf(branding: Branding, texts: BrandingTexts, logo: PictureChange): BrandingChange | undefined {
  const stored = textsOf(branding);
  const changed = TEXTS.filter((name) => texts[name].trim() !== stored[name]);
  if (changed.length === 0 && logo === undefined) return undefined;
  return {
    ...Object.fromEntries(changed.map((name) => [name, texts[name].trim() || null])),
    ...(logo === undefined ? {} : { logo: logo?.base64 ?? null }),
  };
}

/** Six digits, for what is shown while somebody types. Undefined when it is no colour, or not yet: the service judges it. */
export function readAccent(text: string): string | undefined {
  const [, digits = ''] = /^#?([\da-f]{6}|[\da-f]{3})$/i.exec(text.trim()) ?? [];
  if (digits === '') return undefined;
  return (digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits).toLowerCase();
}
