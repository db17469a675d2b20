import type { FulfilmentKind } from '../../../fulfilment/fulfilment.js';
import {
  column,
  columns,
  declareFind,
  declareList,
  declareWrite,
  type Queryable,
  type RowOf,
  statement,
} from '../../../platform/db/database.js';
import { epochMs, fromEpochMs } from '../../../platform/db/time-sql.js';
import type { StoredCode } from '../../domain/benefits/claim-code.js';
import type { BenefitReference, ClaimReference } from '../../domain/benefits/claim-numbers.js';

/** Claims a benefit. Returns undefined if it cannot be claimed at that time. */
export const claimBenefit = declareFind({
  name: 'claim-benefit',
  text: `update benefits set status = 'CLAIMED', claim_no = $5, claimed_at = ${fromEpochMs('$6')}
             where order_no = $1 and cycle_no = $2 and position = $3 and channel_id = $4 and status = 'ISSUED'
               and expires_at > ${fromEpochMs('$6')}
             returning benefit_code as "benefitCode", face_value_cent as "faceValueCent"`,
  parameters: {
    orderNo: 'bigint',
    cycleNo: 'integer',
    position: 'integer',
    channelId: 'bigint',
    claimNo: 'text',
    at: 'double precision',
  },
  columns: columns({ benefitCode: 'text', faceValueCent: 'bigint' }),
});

/** A claim by a visitor of the redemption page. Its code is used if the service generates the benefit's codes. */
export interface VisitorsClaim extends BenefitReference, StoredCode {
  readonly channelId: number;
  /** The version of the channel's data with which the visitor's link was checked. */
  readonly version: number;
  readonly channelUserId: string;
  readonly claimNo: string;
}

/**
 * Claims benefits of several visitors in one statement, each with its code. Stores only claims for which nothing else
 * must be done: the link was checked with the channel's current version, the order belongs to the visitor, the benefit
 * can be claimed, and the service generates its codes. Skips locked rows, so that no claim waits for another. If a
 * benefit is claimed twice, stores one of the claims.
 */
const CLAIM_TOGETHER = statement({
  name: 'claim-together',
  text: `
with held as (
  select a.n, a.claim_no, a.code, a.code_hash, b.*
  from (select $1::bigint[] as order_no, $2::integer[] as cycle_no, $3::integer[] as position, $4::bigint[] as channel_id,
      $5::bigint[] as version, $6::text[] as channel_user_id, $7::text[] as claim_no, $8::text[] as code,
      $10::bytea[] as code_hash offset 0) all_of,
    unnest(all_of.order_no, all_of.cycle_no, all_of.position, all_of.channel_id, all_of.version, all_of.channel_user_id,
      all_of.claim_no, all_of.code, all_of.code_hash) with ordinality
      as a(order_no, cycle_no, position, channel_id, version, channel_user_id, claim_no, code, code_hash, n),
    lateral (
      select b.order_no, b.cycle_no, b.position, b.channel_id, b.benefit_code from benefits b
      where b.order_no = a.order_no and b.cycle_no = a.cycle_no and b.position = a.position and b.channel_id = a.channel_id
        and b.status = 'ISSUED' and b.expires_at > ${fromEpochMs('$9')}
        and exists (select from channels c where c.channel_id = a.channel_id and c.version = a.version)
        and exists (select from orders o where o.order_no = a.order_no and o.channel_id = a.channel_id
          and o.channel_user_id = a.channel_user_id)
        and not exists (select from benefit_fulfilments f where f.benefit_code = b.benefit_code and f.kind <> 'GENERATED')
      for update of b skip locked) b
), claimed as (
  update benefits b set status = 'CLAIMED', claim_no = h.claim_no, claimed_at = ${fromEpochMs('$9')}
  from held h where b.order_no = h.order_no and b.cycle_no = h.cycle_no and b.position = h.position
  returning h.n, h.order_no, h.cycle_no, h.position, h.channel_id, h.benefit_code, h.code, h.code_hash
), stored as (
  insert into claims (order_no, cycle_no, position, channel_id, benefit_code, fulfilment, status, code, code_hash, claimed_at,
    fulfilled_at)
  select c.order_no, c.cycle_no, c.position, c.channel_id, c.benefit_code, 'GENERATED', 'FULFILLED', c.code, c.code_hash,
    ${fromEpochMs('$9')}, ${fromEpochMs('$9')}
  from claimed c
)
select n from claimed`,
  parameters: [
    'bigint[]',
    'integer[]',
    'integer[]',
    'bigint[]',
    'bigint[]',
    'text[]',
    'text[]',
    'text[]',
    'double precision',
    'bytea[]',
  ],
  columns: columns({ n: 'bigint' }),
});

/** Returns true for each claim that was stored. The caller makes the other claims one by one. */
export async function claimTogether(db: Queryable, claims: readonly VisitorsClaim[], at: number): Promise<boolean[]> {
  const rows = await db.query(CLAIM_TOGETHER, [
    claims.map(({ orderNo }) => orderNo),
    claims.map(({ cycleNo }) => cycleNo),
    claims.map(({ position }) => position),
    claims.map(({ channelId }) => channelId),
    claims.map(({ version }) => version),
    claims.map(({ channelUserId }) => channelUserId),
    claims.map(({ claimNo }) => claimNo),
    claims.map(({ code }) => code),
    at,
    claims.map(({ codeHash }) => codeHash),
  ]);
  const claimed = new Set(rows.map(({ n }) => n));
  return claims.map((_, index) => claimed.has(index + 1));
}

export const findBenefitStatus = declareFind({
  text: 'select status from benefits where order_no = $1 and cycle_no = $2 and position = $3 and channel_id = $4',
  parameters: { orderNo: 'bigint', cycleNo: 'integer', position: 'integer', channelId: 'bigint' },
  columns: columns({ status: column<'ISSUED' | 'CLAIMED' | 'REVOKED' | 'EXPIRED'>('text') }),
  value: ({ status }) => status,
});

export const insertClaim = declareWrite({
  name: 'insert-claim',
  text: `insert into claims (order_no, cycle_no, position, channel_id, benefit_code, fulfilment, status, code,
               claimed_at, fulfilled_at, ask_at, code_hash)
             values ($1, $2, $3, $4, $5, $6, case when $7::text is null then 'PENDING' else 'FULFILLED' end, $7,
               ${fromEpochMs('$8')}, case when $7::text is not null then ${fromEpochMs('$8')} end,
               now() + $9::double precision * interval '1 s', $10)`,
  parameters: {
    orderNo: 'bigint',
    cycleNo: 'integer',
    position: 'integer',
    channelId: 'bigint',
    benefitCode: 'text',
    fulfilment: column<FulfilmentKind>('text'),
    /** The encrypted code. Undefined if the claim waits for its code. */
    code: 'text?',
    claimedAt: 'double precision',
    /** Seconds until the supplier is queried about the claim, if its outcome is still unknown by then. */
    askAfterSeconds: 'double precision?',
    codeHash: 'bytea?',
  },
});

const STORE_CLAIM_CODES = statement({
  text: `update claims c set status = 'FULFILLED', code = g.code, code_hash = g.code_hash, code_of = g.replaced,
       fulfilled_at = ${fromEpochMs('$5')}, ask_at = null
     from unnest($1::bigint[], $2::integer[], $3::integer[], $4::text[], $6::bytea[], $7::integer[])
       as g(order_no, cycle_no, position, code, code_hash, replaced)
     where c.order_no = g.order_no and c.cycle_no = g.cycle_no and c.position = g.position and c.status = 'PENDING'
       and c.replaced = g.replaced`,
  parameters: ['bigint[]', 'integer[]', 'integer[]', 'text[]', 'double precision', 'bytea[]', 'integer[]'],
});

/**
 * Stores encrypted codes. A claim that already has a code keeps it. A claim whose code was replaced since the code was
 * requested gets no code.
 */
export async function storeClaimCodes(
  db: Queryable,
  claims: readonly (ClaimReference & StoredCode)[],
  at: number,
): Promise<void> {
  await db.query(STORE_CLAIM_CODES, [
    claims.map(({ orderNo }) => orderNo),
    claims.map(({ cycleNo }) => cycleNo),
    claims.map(({ position }) => position),
    claims.map(({ code }) => code),
    at,
    claims.map(({ codeHash }) => codeHash),
    claims.map(({ replaced }) => replaced),
  ]);
}

export type WaitingClaim = RowOf<typeof WAITING_CLAIM_COLUMNS>;

const WAITING_CLAIM_FIELDS = `c.order_no as "orderNo", c.cycle_no as "cycleNo", c.position, c.channel_id as "channelId",
  c.benefit_code as "benefitCode", ${epochMs('coalesce(c.replaced_at, c.claimed_at)')} as "waitsSince", c.asked, c.replaced,
  (select b.face_value_cent from benefits b
   where b.order_no = c.order_no and b.cycle_no = c.cycle_no and b.position = c.position) as "faceValueCent"`;

const WAITING_CLAIM_COLUMNS = columns({
  orderNo: 'bigint',
  cycleNo: 'integer',
  position: 'integer',
  channelId: 'bigint',
  benefitCode: 'text',
  /** When the benefit was claimed, or its last code was replaced. */
  waitsSince: 'bigint',
  asked: 'integer',
  replaced: 'integer',
  faceValueCent: 'bigint',
});

/** Leases claims of one benefit whose supplier must be queried now. No other node gets them for `leaseSeconds`. */
export const leaseClaimsToAsk = declareList({
  text: `update claims c set ask_at = now() + $3::double precision * interval '1 s', asked = c.asked + 1
     where (c.order_no, c.cycle_no, c.position) in (
       select d.order_no, d.cycle_no, d.position from claims d
       where d.benefit_code = $1 and d.ask_at <= now() order by d.ask_at limit $2 for update skip locked)
     returning ${WAITING_CLAIM_FIELDS}`,
  parameters: ['text', 'bigint', 'double precision'],
  columns: WAITING_CLAIM_COLUMNS,
});

const SCHEDULE_CLAIM_QUESTION = statement({
  text: `update claims set ask_at = now() + $4::double precision * interval '1 s'
     where order_no = $1 and cycle_no = $2 and position = $3 and status = 'PENDING'`,
  parameters: ['bigint', 'integer', 'integer', 'double precision'],
});

export async function scheduleClaimQuestion(
  db: Queryable,
  { orderNo, cycleNo, position }: BenefitReference,
  seconds: number,
): Promise<void> {
  await db.query(SCHEDULE_CLAIM_QUESTION, [orderNo, cycleNo, position, seconds]);
}

/** Locks claims that wait for pool codes, oldest first. Skips claims that another transaction has locked. */
export const lockClaimsWaitingForPool = declareList({
  text: `select ${WAITING_CLAIM_FIELDS} from claims c where c.benefit_code = $1 and c.status = 'PENDING' and c.fulfilment = 'POOL'
     order by c.claimed_at, c.order_no, c.cycle_no, c.position limit $2 for update skip locked`,
  parameters: ['text', 'bigint'],
  columns: WAITING_CLAIM_COLUMNS,
});

/** Lists benefits that have waiting claims as well as free codes in the pool. */
export const findBenefitsToServe = declareList({
  text: `select f.benefit_code as "benefitCode" from benefit_fulfilments f
     where exists (select from claims c
         where c.benefit_code = f.benefit_code and c.status = 'PENDING' and c.fulfilment = 'POOL')
       and exists (select from pool_codes p where p.benefit_code = f.benefit_code and p.given_to is null)`,
  parameters: [],
  columns: columns({ benefitCode: 'text' }),
  value: ({ benefitCode }) => benefitCode,
});

export interface ClaimsOfPeriod {
  readonly usedCent: number;
  readonly claims: readonly RowOf<typeof FIND_CLAIMS_OF_PERIOD>[];
}

const FIND_CLAIMS_OF_PERIOD = statement({
  text: `select claim_no as "claimNo", benefit_code as "benefitCode", name as "benefitName",
       face_value_cent as "faceValueCent", ${epochMs('claimed_at')} as "claimedAt"
     from benefits where order_no = $1 and cycle_no = $2 and status = 'CLAIMED' order by claimed_at, position`,
  parameters: ['bigint', 'integer'],
  columns: columns({
    claimNo: 'text',
    benefitCode: 'text',
    benefitName: 'text',
    faceValueCent: 'bigint',
    claimedAt: 'bigint',
  }),
});

/** Returns the claimed benefits of one period and their total value. */
export async function findClaimsOfPeriod(db: Queryable, orderNo: number, cycleNo: number): Promise<ClaimsOfPeriod> {
  const claims = await db.query(FIND_CLAIMS_OF_PERIOD, [orderNo, cycleNo]);
  return { claims, usedCent: claims.reduce((sum, claim) => sum + claim.faceValueCent, 0) };
}

const CLAIM_CODE_COLUMNS = columns({
  orderNo: 'bigint',
  cycleNo: 'integer',
  position: 'integer',
  channelId: 'bigint',
  benefitCode: 'text',
  fulfilment: column<FulfilmentKind>('text'),
  /** Sealed. Null while the claim waits for its code. */
  code: 'text?',
  replaced: 'integer',
});

export type ClaimOfOrder = RowOf<typeof CLAIM_CODE_COLUMNS>;

/** Locks a claim, so that its code is replaced once. */
export const lockClaim = declareFind({
  text: `select order_no as "orderNo", cycle_no as "cycleNo", position, channel_id as "channelId",
       benefit_code as "benefitCode", fulfilment, code, replaced
     from claims where order_no = $1 and cycle_no = $2 and position = $3 for update`,
  parameters: { orderNo: 'bigint', cycleNo: 'integer', position: 'integer' },
  columns: CLAIM_CODE_COLUMNS,
});

/**
 * Moves a claim's code to the replaced codes, of which only the hash is kept. The claim, whose lock the caller holds,
 * then waits for a code. If its source is a supplier, the engine requests the code now.
 */
export const takeBackCode = declareWrite({
  text: `with former as (
       select c.* from claims c where c.order_no = $1 and c.cycle_no = $2 and c.position = $3 and c.replaced = $4
         and c.status = 'FULFILLED'
     ), kept as (
       insert into replaced_codes (order_no, cycle_no, position, nth, channel_id, code_hash, fulfilled_at, first_shown_at,
         last_shown_at, replaced_at, replaced_by)
       select f.order_no, f.cycle_no, f.position, f.replaced, f.channel_id, $5, f.fulfilled_at, f.first_shown_at,
         f.last_shown_at, now(), $6
       from former f)
     update claims c set status = 'PENDING', code = null, code_hash = null, fulfilled_at = null, first_shown_at = null,
       last_shown_at = null, replaced = f.replaced + 1, replaced_at = now(), asked = 0,
       ask_at = case when f.fulfilment = 'SUPPLIER' then now() end
     from former f where c.order_no = f.order_no and c.cycle_no = f.cycle_no and c.position = f.position`,
  parameters: {
    orderNo: 'bigint',
    cycleNo: 'integer',
    position: 'integer',
    replaced: 'integer',
    codeHash: 'bytea',
    replacedBy: 'text',
  },
});

/** Returns claims with a code that has no hash, because an earlier release has stored it. */
export const listClaimsToHash = declareList({
  text: `select order_no as "orderNo", cycle_no as "cycleNo", position, channel_id as "channelId", code
     from claims where code is not null and code_hash is null order by order_no, cycle_no, position limit $1`,
  parameters: ['bigint'],
  columns: columns({
    orderNo: 'bigint',
    cycleNo: 'integer',
    position: 'integer',
    channelId: 'bigint',
    /** Sealed. */
    code: 'text',
  }),
  byIndex: true,
});

/** Stores the hashes of codes. Leaves out a claim whose code has changed since it was read. */
export const storeCodeHashes = declareWrite({
  text: `update claims c set code_hash = g.code_hash
     from unnest($1::bigint[], $2::integer[], $3::integer[], $4::text[], $5::bytea[])
       as g(order_no, cycle_no, position, code, code_hash)
     where c.order_no = g.order_no and c.cycle_no = g.cycle_no and c.position = g.position and c.code = g.code`,
  parameters: ['bigint[]', 'integer[]', 'integer[]', 'text[]', 'bytea[]'],
});

/** Stores when the redemption page has shown codes. Leaves out codes that were replaced since. */
export const storeShownCodes = declareWrite({
  name: 'codes-shown',
  text: `update claims c set first_shown_at = coalesce(c.first_shown_at, g.at), last_shown_at = greatest(c.last_shown_at, g.at)
     from (select n.order_no, n.cycle_no, n.position, n.replaced, max(${fromEpochMs('n.at')}) as at
       from unnest($1::bigint[], $2::integer[], $3::integer[], $4::double precision[], $5::integer[])
         as n(order_no, cycle_no, position, at, replaced) group by 1, 2, 3, 4) g
     where c.order_no = g.order_no and c.cycle_no = g.cycle_no and c.position = g.position and c.code is not null
       and c.replaced = g.replaced`,
  parameters: ['bigint[]', 'integer[]', 'integer[]', 'double precision[]', 'integer[]'],
});
