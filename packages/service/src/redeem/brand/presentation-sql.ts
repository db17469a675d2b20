import { imageFile } from '../../catalog/image-file-sql.js';

/** What is shown of a benefit beside its name. What is null was not set. */
export interface Presentation {
  /** The name of the picture's file below /redeem/images. */
  readonly icon: string | null;
  readonly descriptionZh: string | null;
  readonly descriptionEn: string | null;
  readonly useUrl: string | null;
}

/** The presentation of a benefit as JSON, for a statement that has its code; null when nothing was set. */
export const presentationOf = (benefitCode: string) =>
  `(select json_build_object('icon', ${imageFile('i')}, 'descriptionZh', p.description_zh,
      'descriptionEn', p.description_en, 'useUrl', p.use_url)
    from benefit_presentations p left join images i on i.image_hash = p.icon_hash
    where p.benefit_code = ${benefitCode})`;
