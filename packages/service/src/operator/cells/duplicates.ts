import { columns, type Queryable, statement } from '../../platform/db/database.js';

const PAGE = 10_000;

/** A page of keys in their order. `name` is what an operator sees. */
const page = { parameters: ['bytea', 'text'], columns: columns({ key: 'bytea', name: 'text' }) } as const;

/**
 * Numbers of channels and institutions that must be unique. A cell makes sure of it within itself; across cells only
 * this report does. $2 is the payment channel, or empty. Institutions' numbers are compared by their hash, under the key
 * that all cells share.
 */
const KINDS = {
  'external order number': statement({
    text: `select key_of(external_order_no) as key, external_order_no as name from external_orders
       where key_of(external_order_no) > $1 and $2 = '' order by key_of(external_order_no) limit ${PAGE}`,
    ...page,
  }),
  'institution agreement number': statement({
    text: `select distinct on (a.institution_hash) a.institution_hash as key,
         a.payment_channel_code || ' ' || a.agreement_no as name
       from agreements a
       where a.institution_hash > $1 and a.payment_channel_code = $2 and a.status = 'BIND_SUCCESS'
       order by a.institution_hash, a.agreement_no limit ${PAGE}`,
    ...page,
  }),
} as const;

const LIST_PAYMENT_CHANNELS = statement({
  text: 'select code from payment_channels',
  parameters: [],
  columns: columns({ code: 'text' }),
});

export type DuplicateKind = keyof typeof KINDS;

export interface Duplicate {
  readonly kind: DuplicateKind;
  /** The number, or for an institution's the payment channel and our own number. */
  readonly name: string;
  readonly cells: readonly number[];
}

interface Keyed {
  readonly key: Buffer;
  readonly name: string;
}

async function* readKeys(db: Queryable, kind: DuplicateKind, scope: string): AsyncGenerator<Keyed> {
  for (let after: Buffer = Buffer.alloc(0); ; ) {
    const rows = await db.query(KINDS[kind], [after, scope]);
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    after = last.key;
  }
}

interface Readable {
  readonly cell: number;
  readonly database: Queryable;
}

/** Returns up to `limit` numbers that several cells have. */
export async function findDuplicates(cells: readonly Readable[], limit: number): Promise<Duplicate[]> {
  const codes = await Promise.all(cells.map(({ database }) => database.query(LIST_PAYMENT_CHANNELS)));
  const found: Duplicate[] = [];
  for (const kind of Object.keys(KINDS) as DuplicateKind[]) {
    const scopes = kind === 'external order number' ? [''] : new Set(codes.flat().map(({ code }) => code));
    for (const scope of scopes) {
      for await (const one of merge(cells, kind, scope)) {
        if (found.length >= limit) return found;
        found.push(one);
      }
    }
  }
  return found;
}

/** Merges the sorted keys of all cells. Holds one page of each cell at a time. */
async function* merge(cells: readonly Readable[], kind: DuplicateKind, scope: string): AsyncGenerator<Duplicate> {
  const advance = async (cell: number, keys: AsyncGenerator<Keyed>) => {
    const { value, done } = await keys.next();
    return done ? [] : [{ cell, keys, head: value as Keyed }];
  };
  let heads = (
    await Promise.all(cells.map(({ cell, database }) => advance(cell, readKeys(database, kind, scope))))
  ).flat();
  while (heads.length > 1) {
    const least = heads.map(({ head }) => head).reduce((a, b) => (b.key.compare(a.key) < 0 ? b : a));
    const having = heads.filter(({ head }) => head.key.equals(least.key));
    if (having.length > 1) yield { kind, name: least.name, cells: having.map(({ cell }) => cell) };
    const moved = await Promise.all(
      heads.map((one) => (having.includes(one) ? advance(one.cell, one.keys) : Promise.resolve([one]))),
    );
    heads = moved.flat();
  }
}
