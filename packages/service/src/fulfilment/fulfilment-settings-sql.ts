import { column, columns, type Queryable, queryOne, type RowOf, statement } from '../platform/db/database.js';
import type { FulfilmentKind } from './fulfilment.js';

export type FulfilmentRow = RowOf<typeof FIND_FULFILMENT>;

const FULFILMENT_FIELDS = 'kind, supplier_url as "supplierUrl", supplier_key as "supplierKey"';

const FIND_FULFILMENT = statement({
  name: 'find-fulfilment',
  text: `select ${FULFILMENT_FIELDS} from benefit_fulfilments where benefit_code = $1`,
  parameters: ['text'],
  columns: columns({
    kind: column<FulfilmentKind>('text'),
    supplierUrl: 'text?',
    /** Wrapped. */
    supplierKey: 'text?',
  }),
});

/** Undefined when nothing is set for the benefit. */
export async function findFulfilment(db: Queryable, benefitCode: string): Promise<FulfilmentRow | undefined> {
  return queryOne(db, FIND_FULFILMENT, [benefitCode]);
}

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

const STORE_LOW_STOCK = statement({
  text: `update benefit_fulfilments set low_stock = $2 where benefit_code = $1 and low_stock is distinct from $2 returning 1`,
  parameters: ['text', 'integer'],
});

/** False when it was so already. */
export async function storeLowStock(tx: Queryable, benefitCode: string, lowStock: number | null): Promise<boolean> {
  return (await tx.query(STORE_LOW_STOCK, [benefitCode, lowStock])).length > 0;
}

const LOCK_BENEFIT_CODE = statement({
  text: `select pg_advisory_xact_lock(hashtextextended('benefit ' || $1::text, 0))`,
  parameters: ['text'],
});

/** Two changes of one benefit, or two imports into it, wait for each other. */
export async function lockBenefitCode(tx: Queryable, benefitCode: string): Promise<void> {
  await tx.query(LOCK_BENEFIT_CODE, [benefitCode]);
}

const LIST_SUPPLIED_BENEFITS = statement({
  text: 'select benefit_code as code from benefit_fulfilments where supplier_url is not null',
  parameters: [],
});

/** Benefits that have, or once had, a supplier: their claims may be waiting for it. */
export async function listSuppliedBenefits(db: Queryable): Promise<{ code: string }[]> {
  return db.query(LIST_SUPPLIED_BENEFITS);
}
