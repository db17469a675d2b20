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
  text: `select icon_hash as "iconHash", description_zh as "descriptionZh", description_en as "descriptionEn",
       use_url as "useUrl"
     from benefit_presentations where benefit_code = $1`,
  parameters: ['text'],
  columns: columns({
    iconHash: 'text?',
    descriptionZh: 'text?',
    descriptionEn: 'text?',
    useUrl: 'text?',
  }),
});

const STORE_PRESENTATION = statement({
  text: `insert into benefit_presentations (benefit_code, icon_hash, description_zh, description_en, use_url)
     values ($1, $2, $3, $4, $5)
     on conflict (benefit_code) do update set icon_hash = excluded.icon_hash, description_zh = excluded.description_zh,
       description_en = excluded.description_en, use_url = excluded.use_url`,
  parameters: ['text', 'text', 'text', 'text', 'text'],
});

export async function storePresentation(tx: Queryable, benefitCode: string, row: PresentationRow): Promise<void> {
  const { iconHash, descriptionZh, descriptionEn, useUrl } = row;
  await tx.query(STORE_PRESENTATION, [benefitCode, iconHash, descriptionZh, descriptionEn, useUrl]);
}

export const deletePresentation = declareWrite({
  text: 'delete from benefit_presentations where benefit_code = $1',
  parameters: ['text'],
});
