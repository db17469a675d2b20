import {
  columns,
  declareFind,
  declareWrite,
  type Queryable,
  type RowOf,
  statement,
} from '../../platform/db/database.js';

/** A row of benefit_presentations, without its benefit. */
export type PresentationRow = RowOf<typeof findPresentation>;

/** Returns undefined if the benefit has no presentation. */
export const findPresentation = declareFind({
  text: `select icon_hash as "iconHash", name_zh as "nameZh", name_en as "nameEn", description_zh as "descriptionZh", description_en as "descriptionEn",
       use_url as "useUrl"
     from benefit_presentations where benefit_code = $1`,
  parameters: ['text'],
  columns: columns({
    iconHash: 'text?',
    nameZh: 'text?',
    nameEn: 'text?',
    descriptionZh: 'text?',
    descriptionEn: 'text?',
    useUrl: 'text?',
  }),
});

const STORE_PRESENTATION = statement({
  text: `insert into benefit_presentations (benefit_code, icon_hash, description_zh, description_en, use_url, name_zh, name_en)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (benefit_code) do update set icon_hash = excluded.icon_hash, description_zh = excluded.description_zh,
       description_en = excluded.description_en, use_url = excluded.use_url, name_zh = excluded.name_zh, name_en = excluded.name_en`,
  parameters: ['text', 'text', 'text', 'text', 'text', 'text', 'text'],
});

export async function storePresentation(tx: Queryable, benefitCode: string, row: PresentationRow): Promise<void> {
  const { iconHash, descriptionZh, descriptionEn, useUrl, nameZh, nameEn } = row;
  await tx.query(STORE_PRESENTATION, [benefitCode, iconHash, descriptionZh, descriptionEn, useUrl, nameZh, nameEn]);
}

export const deletePresentation = declareWrite({
  text: 'delete from benefit_presentations where benefit_code = $1',
  parameters: ['text'],
});
