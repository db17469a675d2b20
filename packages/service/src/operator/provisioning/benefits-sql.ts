import type { Static } from '@perennial/wire';
import { imageView } from '../../catalog/image-file-sql.js';
import type { FulfilmentKind } from '../../fulfilment/fulfilment.js';
import { column, columns, type RowOf } from '../../platform/db/database.js';
import { declareList, type Query } from '../../platform/db/declared.js';
import { shanghaiText } from '../../platform/db/time-sql.js';
import type { benefitView } from '../schemas/setup.js';

/** How the benefit is presented to users, besides its name. A part that is not set is null. */
export type PresentationView = Static<typeof benefitView>['presentation'];

/** A benefit with the source of its codes. Times are formatted as in the API. */
export type BenefitFulfilmentView = RowOf<typeof BENEFIT_FULFILMENT_VIEW_COLUMNS>;

const BENEFIT_FULFILMENT_VIEW_COLUMNS = columns({
  benefitCode: 'text',
  name: 'text?',
  kind: column<FulfilmentKind>('text'),
  supplierUrl: 'text?',
  /** Products that include the benefit. */
  products: 'text[]',
  /** The number of codes in the pool that were not handed out. */
  codesLeft: 'bigint',
  /** True if codes were ever imported. */
  hasPool: 'boolean',
  /** An alert is raised below this number of codes. Null: no alert. */
  lowStock: 'integer?',
  /** The number of claims that wait for their code. */
  waitingClaims: 'bigint',
  waitingSince: 'text?',
  presentation: column<PresentationView>('json'),
});

/** SQL: the benefit's name in the latest product that has it, if the name is more than the code. */
const nameSql = (code: string) => `(select b.name from product_benefits b join products p using (product_code)
  where b.benefit_code = ${code} and b.name <> b.benefit_code order by p.created_at desc, p.product_code limit 1) as name`;

/** Returns benefits that are part of a product, have a setting, or have imported codes. */
export const describeBenefits: Query<[benefitCode?: string], BenefitFulfilmentView[]> = declareList({
  // Finds the pools one after another by the key, and counts unused codes by their own index: a pool has many used codes.
  text: `with recursive pools(benefit_code) as (
       (select p.benefit_code from pool_codes p order by p.benefit_code limit 1)
       union all
       select (select p.benefit_code from pool_codes p where p.benefit_code > found.benefit_code order by p.benefit_code limit 1)
       from pools found where found.benefit_code is not null),
     waiting as (
       select benefit_code, count(*) as claims, min(waits_since) as since from (
         select benefit_code, coalesce(replaced_at, claimed_at) as waits_since from claims where status = 'PENDING' and fulfilment = 'POOL'
         union all
         select benefit_code, coalesce(replaced_at, claimed_at) as waits_since from claims where ask_at is not null) as w
       where $1::text is null or benefit_code = $1 group by benefit_code),
     known as (
       select benefit_code from product_benefits union select benefit_code from benefit_fulfilments
       union select benefit_code from pools where benefit_code is not null)
     select k.benefit_code as "benefitCode", ${nameSql('k.benefit_code')}, coalesce(f.kind, 'GENERATED') as kind, f.supplier_url as "supplierUrl",
       array(select b.product_code from product_benefits b where b.benefit_code = k.benefit_code order by 1) as products,
       (select count(*) from pool_codes p where p.benefit_code = k.benefit_code and p.given_to is null) as "codesLeft",
       exists (select from pools p where p.benefit_code = k.benefit_code) as "hasPool",
       f.low_stock as "lowStock",
       coalesce(w.claims, 0) as "waitingClaims", ${shanghaiText('w.since')} as "waitingSince",
       json_build_object('icon', ${imageView('i')}, 'nameZh', d.name_zh, 'nameEn', d.name_en, 'descriptionZh', d.description_zh,
         'descriptionEn', d.description_en, 'useUrl', d.use_url) as presentation
     from known k left join benefit_fulfilments f using (benefit_code) left join waiting w using (benefit_code)
       left join benefit_presentations d using (benefit_code) left join images i on i.image_hash = d.icon_hash
     where $1::text is null or k.benefit_code = $1
     order by k.benefit_code`,
  parameters: ['text?'],
  columns: BENEFIT_FULFILMENT_VIEW_COLUMNS,
});

/** Returns the benefits that have a supplier or had one before, with their names. */
export const describeSuppliers = declareList({
  text: `select f.benefit_code as "benefitCode", ${nameSql('f.benefit_code')}, d.name_zh as "nameZh", d.name_en as "nameEn"
     from benefit_fulfilments f left join benefit_presentations d using (benefit_code)
     where f.supplier_url is not null order by f.benefit_code`,
  parameters: [],
  columns: columns({ benefitCode: 'text', name: 'text?', nameZh: 'text?', nameEn: 'text?' }),
});
