import { column, columns, type Queryable, type RowOf, statement } from '../platform/db/database.js';
import { declareFind, declareHas, declareList, declareWrite, type Query } from '../platform/db/declared.js';
import type { FulfilmentKind } from './fulfilment.js';

export type FulfilmentRow = RowOf<typeof FULFILMENT_ROW_COLUMNS>;

const FULFILMENT_FIELDS = 'kind, supplier_url as "supplierUrl", supplier_key as "supplierKey"';

const FULFILMENT_ROW_COLUMNS = columns({
  kind: column<FulfilmentKind>('text'),
  supplierUrl: 'text?',
  /** Wrapped. */
  supplierKey: 'text?',
});

/** Returns undefined if the benefit has no setting. */
export const findFulfilment: Query<[benefitCode: string], FulfilmentRow | undefined> = declareFind({
  name: 'find-fulfilment',
  text: `select ${FULFILMENT_FIELDS} from benefit_fulfilments where benefit_code = $1`,
  parameters: ['text'],
  columns: FULFILMENT_ROW_COLUMNS,
});

const STORE_FULFILMENT = statement({
  text: `insert into benefit_fulfilments (benefit_code, kind, supplier_url, supplier_key) values ($1, $2, $3, $4)
     on conflict (benefit_code) do update set kind = excluded.kind, supplier_url = excluded.supplier_url,
       supplier_key = excluded.supplier_key, set_at = now()`,
  parameters: ['text', 'text', 'text', 'text'],
});

export async function storeFulfilment(
  tx: Queryable,
  benefitCode: string,
  { kind, supplierUrl, supplierKey }: FulfilmentRow,
): Promise<void> {
  await tx.query(STORE_FULFILMENT, [benefitCode, kind, supplierUrl, supplierKey]);
}

/** Returns false if the threshold is unchanged or the benefit has no setting. */
export const storeLowStock: Query<[benefitCode: string, lowStock: number | null], boolean> = declareHas({
  text: `update benefit_fulfilments set low_stock = $2 where benefit_code = $1 and low_stock is distinct from $2 returning 1`,
  parameters: ['text', 'integer?'],
});

/** Locks a benefit, so that changes of the benefit and imports of its codes run one after another. */
export const lockBenefitCode: Query<[benefitCode: string], void> = declareWrite({
  text: `select pg_advisory_xact_lock(hashtextextended('benefit ' || $1::text, 0))`,
  parameters: ['text'],
});

/** Lists benefits that have a supplier or had one before, because claims may still wait for that supplier. */
export const listSuppliedBenefits: Query<[], { code: string }[]> = declareList({
  text: 'select benefit_code as code from benefit_fulfilments where supplier_url is not null',
  parameters: [],
});
