import { columns, declareFind, type Queryable, type RowOf, statement } from '../../platform/db/database.js';

/** A row of channel_brandings, without its channel. */
export type BrandingRow = RowOf<typeof findBranding>;

/** Returns undefined if the channel has no branding. */
export const findBranding = declareFind({
  text: `select display_name as "displayName", logo_hash as "logoHash", accent, support, terms_url as "termsUrl",
       shop_url as "shopUrl"
     from channel_brandings where channel_id = $1`,
  parameters: ['bigint'],
  columns: columns({
    displayName: 'text?',
    logoHash: 'text?',
    accent: 'text?',
    support: 'text?',
    termsUrl: 'text?',
    shopUrl: 'text?',
  }),
});

const STORE_BRANDING = statement({
  text: `insert into channel_brandings (channel_id, display_name, logo_hash, accent, support, terms_url, shop_url)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (channel_id) do update set display_name = excluded.display_name, logo_hash = excluded.logo_hash,
       accent = excluded.accent, support = excluded.support, terms_url = excluded.terms_url, shop_url = excluded.shop_url`,
  parameters: ['bigint', 'text', 'text', 'text', 'text', 'text', 'text'],
});

export async function storeBranding(tx: Queryable, channelId: number, row: BrandingRow): Promise<void> {
  const { displayName, logoHash, accent, support, termsUrl, shopUrl } = row;
  await tx.query(STORE_BRANDING, [channelId, displayName, logoHash, accent, support, termsUrl, shopUrl]);
}
