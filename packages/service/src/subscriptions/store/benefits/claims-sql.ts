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
import type { BenefitReference } from '../../domain/benefits/claim-numbers.js';

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
export interface VisitorsClaim extends BenefitReference {
  readonly channelId: number;
  /** The version of the channel's data with which the visitor's link was checked. */
  readonly version: number;
  readonly channelUserId: string;
  readonly claimNo: string;
  /** Sealed. */
  readonly code: string;
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
  select a.n, a.claim_no, a.code, b.*
  from (select $1::bigint[] as order_no, $2::integer[] as cycle_no, $3::integer[] as position, $4::bigint[] as channel_id,
      $5::bigint[] as version, $6::text[] as channel_user_id, $7::text[] as claim_no, $8::text[] as code offset 0) all_of,
    unnest(all_of.order_no, all_of.cycle_no, all_of.position, all_of.channel_id, all_of.version, all_of.channel_user_id,
      all_of.claim_no, all_of.code) with ordinality
      as a(order_no, cycle_no, position, channel_id, version, channel_user_id, claim_no, code, n),
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
  returning h.n, h.order_no, h.cycle_no, h.position, h.channel_id, h.benefit_code, h.code
), stored as (
  insert into claims (order_no, cycle_no, position, channel_id, benefit_code, fulfilment, status, code, claimed_at, fulfilled_at)
  select c.order_no, c.cycle_no, c.position, c.channel_id, c.benefit_code, 'GENERATED', 'FULFILLED', c.code,
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
               claimed_at, fulfilled_at, ask_at)
             values ($1, $2, $3, $4, $5, $6, case when $7::text is null then 'PENDING' else 'FULFILLED' end, $7,
               ${fromEpochMs('$8')}, case when $7::text is not null then ${fromEpochMs('$8')} end,
               now() + $9::double precision * interval '1 s')`,
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
  },
});

const STORE_CLAIM_CODES = statement({
  text: `update claims c set status = 'FULFILLED', code = g.code, fulfilled_at = ${fromEpochMs('$5')}, ask_at = null
     from unnest($1::bigint[], $2::integer[], $3::integer[], $4::text[]) as g(order_no, cycle_no, position, code)
     where c.order_no = g.order_no and c.cycle_no = g.cycle_no and c.position = g.position and c.status = 'PENDING'`,
  parameters: ['bigint[]', 'integer[]', 'integer[]', 'text[]', 'double precision'],
});

/** Stores encrypted codes. A claim that already has a code keeps it. */
export async function storeClaimCodes(
  db: Queryable,
  claims: readonly (BenefitReference & { readonly code: string })[],
  at: number,
): Promise<void> {
  await db.query(STORE_CLAIM_CODES, [
    claims.map(({ orderNo }) => orderNo),
    claims.map(({ cycleNo }) => cycleNo),
    claims.map(({ position }) => position),
    claims.map(({ code }) => code),
    at,
  ]);
}

export type WaitingClaim = RowOf<typeof WAITING_CLAIM_COLUMNS>;

const WAITING_CLAIM_FIELDS = `c.order_no as "orderNo", c.cycle_no as "cycleNo", c.position, c.channel_id as "channelId",
  c.benefit_code as "benefitCode", ${epochMs('c.claimed_at')} as "claimedAt", c.asked,
  (select b.face_value_cent from benefits b
   where b.order_no = c.order_no and b.cycle_no = c.cycle_no and b.position = c.position) as "faceValueCent"`;

const WAITING_CLAIM_COLUMNS = columns({
  orderNo: 'bigint',
  cycleNo: 'integer',
  position: 'integer',
  channelId: 'bigint',
  benefitCode: 'text',
  claimedAt: 'bigint',
  asked: 'integer',
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
