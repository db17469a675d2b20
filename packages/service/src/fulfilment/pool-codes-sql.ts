import { columns, type Queryable, statement } from '../platform/db/database.js';
import { declareList } from '../platform/db/declared.js';

export interface NewPoolCode {
  readonly hash: Buffer;
  readonly sealed: string;
}

const INSERT_POOL_CODES = statement({
  text: `with imported as (
       insert into pool_codes (benefit_code, code_hash, code)
       select $1, hash, sealed from unnest($2::bytea[], $3::text[]) with ordinality as given(hash, sealed, nth)
       order by nth
       on conflict do nothing returning 1)
     select count(*) as imported from imported`,
  parameters: ['text', 'bytea[]', 'text[]'],
  columns: columns({ imported: 'bigint' }),
});

/** Inserts codes, which are issued in the given order. Returns how many of them were new. */
export async function insertPoolCodes(
  tx: Queryable,
  benefitCode: string,
  codes: readonly NewPoolCode[],
): Promise<number> {
  const [row] = await tx.query(INSERT_POOL_CODES, [
    benefitCode,
    codes.map(({ hash }) => hash),
    codes.map(({ sealed }) => sealed),
  ]);
  return row?.imported ?? 0;
}

/** Assigns the oldest free codes to these claims, one code per claim as long as there are codes. Skips locked codes. */
export const takePoolCodes = declareList({
  name: 'take-codes',
  text: `with unused as (
               select code_hash, code, position from pool_codes where benefit_code = $1 and given_to is null
               order by position limit cardinality($2::text[]) for update skip locked),
             taken as (
               select code_hash, code, ($2::text[])[row_number() over (order by position)] as claim_no from unused),
             given as (
               update pool_codes p set given_to = t.claim_no, code = null
               from taken t where p.benefit_code = $1 and p.code_hash = t.code_hash)
             select claim_no as "claimNo", code as sealed from taken`,
  parameters: ['text', 'text[]'],
  columns: columns({ claimNo: 'text', sealed: 'text' }),
});
