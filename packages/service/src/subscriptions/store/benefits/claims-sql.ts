import type { ClaimRecord } from '@perennial/wire';
import type { FulfilmentKind } from '../../../fulfilment/fulfilment.js';
import { columns, type Queryable, statement } from '../../../platform/db/database.js';
import { epochMs, fromEpochMs } from '../../../platform/db/time-sql.js';
import type { BenefitReference } from '../../domain/benefits/claim-numbers.js';

export interface ClaimedBenefit {
  readonly benefitCode: string;
  readonly faceValueCent: number;
}

const CLAIM_BENEFIT = statement({
  name: 'claim-benefit',
  text: `update benefits set status = 'CLAIMED', claim_no = $5, claimed_at = ${fromEpochMs('$6')}
             where order_no = $1 and cycle_no = $2 and position = $3 and channel_id = $4 and status = 'ISSUED'
               and expires_at > ${fromEpochMs('$6')}
             returning benefit_code as "benefitCode", face_value_cent as "faceValueCent"`,
  parameters: ['bigint', 'integer', 'integer', 'bigint', 'text', 'double precision'],
  columns: columns<ClaimedBenefit>({ benefitCode: 'text', faceValueCent: 'bigint' }),
});

/** No other statement makes a benefit claimed. Undefined when the benefit cannot be claimed at that time. */
export async function claimBenefit(
  tx: Queryable,
  channelId: number,
  { orderNo, cycleNo, position }: BenefitReference,
  claimNo: string,
  at: number,
): Promise<ClaimedBenefit | undefined> {
  const [benefit] = await tx.query(CLAIM_BENEFIT, [orderNo, cycleNo, position, channelId, claimNo, at]);
  return benefit;
}

export type BenefitStatus = 'ISSUED' | 'CLAIMED' | 'REVOKED' | 'EXPIRED';

const FIND_BENEFIT_STATUS = statement({
  text: 'select status from benefits where order_no = $1 and cycle_no = $2 and position = $3 and channel_id = $4',
  parameters: ['bigint', 'integer', 'integer', 'bigint'],
  columns: columns<{ status: BenefitStatus }>({ status: 'text' }),
});

export async function findBenefitStatus(
  tx: Queryable,
  channelId: number,
  { orderNo, cycleNo, position }: BenefitReference,
): Promise<BenefitStatus | undefined> {
  const [benefit] = await tx.query(FIND_BENEFIT_STATUS, [orderNo, cycleNo, position, channelId]);
  return benefit?.status;
}

export interface NewClaim extends BenefitReference {
  readonly channelId: number;
  readonly benefitCode: string;
  readonly fulfilment: FulfilmentKind;
  /** Sealed. Undefined while the claim waits for its code. */
  readonly code: string | undefined;
  readonly claimedAt: number;
  /** When the supplier is asked about the claim, if its outcome is still unknown by then. */
  readonly askAfterSeconds: number | undefined;
}

const INSERT_CLAIM = statement({
  name: 'insert-claim',
  text: `insert into claims (order_no, cycle_no, position, channel_id, benefit_code, fulfilment, status, code,
               claimed_at, fulfilled_at, ask_at)
             values ($1, $2, $3, $4, $5, $6, case when $7::text is null then 'PENDING' else 'FULFILLED' end, $7,
               ${fromEpochMs('$8')}, case when $7::text is not null then ${fromEpochMs('$8')} end,
               now() + $9::double precision * interval '1 s')`,
  parameters: [
    'bigint',
    'integer',
    'integer',
    'bigint',
    'text',
    'text',
    'text',
    'double precision',
    'double precision',
  ],
});

export async function insertClaim(tx: Queryable, claim: NewClaim): Promise<void> {
  await tx.query(INSERT_CLAIM, [
    claim.orderNo,
    claim.cycleNo,
    claim.position,
    claim.channelId,
    claim.benefitCode,
    claim.fulfilment,
    claim.code ?? null,
    claim.claimedAt,
    claim.askAfterSeconds ?? null,
  ]);
}

const STORE_CLAIM_CODES = statement({
  text: `update claims c set status = 'FULFILLED', code = g.code, fulfilled_at = ${fromEpochMs('$5')}, ask_at = null
     from unnest($1::bigint[], $2::integer[], $3::integer[], $4::text[]) as g(order_no, cycle_no, position, code)
     where c.order_no = g.order_no and c.cycle_no = g.cycle_no and c.position = g.position and c.status = 'PENDING'`,
  parameters: ['bigint[]', 'integer[]', 'integer[]', 'text[]', 'double precision'],
});

/** Stores sealed codes. A claim that has a code already keeps it. */
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

/** A claim without its code. */
export interface WaitingClaim extends BenefitReference, ClaimedBenefit {
  readonly channelId: number;
  readonly claimedAt: number;
  readonly asked: number;
}

const WAITING_CLAIM_FIELDS = `c.order_no as "orderNo", c.cycle_no as "cycleNo", c.position, c.channel_id as "channelId",
  c.benefit_code as "benefitCode", ${epochMs('c.claimed_at')} as "claimedAt", c.asked,
  (select b.face_value_cent from benefits b
   where b.order_no = c.order_no and b.cycle_no = c.cycle_no and b.position = c.position) as "faceValueCent"`;

const WAITING_CLAIM_COLUMNS = columns<WaitingClaim>({
  orderNo: 'bigint',
  cycleNo: 'integer',
  position: 'integer',
  channelId: 'bigint',
  benefitCode: 'text',
  claimedAt: 'bigint',
  asked: 'integer',
  faceValueCent: 'bigint',
});

const LEASE_CLAIMS_TO_ASK = statement({
  text: `update claims c set ask_at = now() + $3::double precision * interval '1 s', asked = c.asked + 1
     where (c.order_no, c.cycle_no, c.position) in (
       select d.order_no, d.cycle_no, d.position from claims d
       where d.benefit_code = $1 and d.ask_at <= now() order by d.ask_at limit $2 for update skip locked)
     returning ${WAITING_CLAIM_FIELDS}`,
  parameters: ['text', 'bigint', 'double precision'],
  columns: WAITING_CLAIM_COLUMNS,
});

/** Claims of one benefit whose supplier is to be asked now. No other node gets them until `leaseSeconds` have passed. */
export async function leaseClaimsToAsk(
  db: Queryable,
  benefitCode: string,
  limit: number,
  leaseSeconds: number,
): Promise<WaitingClaim[]> {
  return db.query(LEASE_CLAIMS_TO_ASK, [benefitCode, limit, leaseSeconds]);
}

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

const LOCK_CLAIMS_WAITING_FOR_POOL = statement({
  text: `select ${WAITING_CLAIM_FIELDS} from claims c where c.benefit_code = $1 and c.status = 'PENDING' and c.fulfilment = 'POOL'
     order by c.claimed_at, c.order_no, c.cycle_no, c.position limit $2 for update skip locked`,
  parameters: ['text', 'bigint'],
  columns: WAITING_CLAIM_COLUMNS,
});

/** Claims that wait for codes of a pool, the oldest first, without those that another transaction has locked. */
export async function lockClaimsWaitingForPool(
  tx: Queryable,
  benefitCode: string,
  limit: number,
): Promise<WaitingClaim[]> {
  return tx.query(LOCK_CLAIMS_WAITING_FOR_POOL, [benefitCode, limit]);
}

const FIND_BENEFITS_TO_SERVE = statement({
  text: `select f.benefit_code as "benefitCode" from benefit_fulfilments f
     where exists (select from claims c
         where c.benefit_code = f.benefit_code and c.status = 'PENDING' and c.fulfilment = 'POOL')
       and exists (select from pool_codes p where p.benefit_code = f.benefit_code and p.given_to is null)`,
  parameters: [],
  columns: columns<{ benefitCode: string }>({ benefitCode: 'text' }),
});

/** Benefits with claims that wait for a code from the pool, and with codes in the pool. */
export async function findBenefitsToServe(db: Queryable): Promise<string[]> {
  const rows = await db.query(FIND_BENEFITS_TO_SERVE);
  return rows.map(({ benefitCode }) => benefitCode);
}

export interface ClaimsOfPeriod {
  readonly usedCent: number;
  readonly claims: readonly (Omit<ClaimRecord, 'claimedAt'> & { readonly claimedAt: number })[];
}

const FIND_CLAIMS_OF_PERIOD = statement({
  text: `select claim_no as "claimNo", benefit_code as "benefitCode", name as "benefitName",
       face_value_cent as "faceValueCent", ${epochMs('claimed_at')} as "claimedAt"
     from benefits where order_no = $1 and cycle_no = $2 and status = 'CLAIMED' order by claimed_at, position`,
  parameters: ['bigint', 'integer'],
  columns: columns<ClaimsOfPeriod['claims'][number]>({
    claimNo: 'text',
    benefitCode: 'text',
    benefitName: 'text',
    faceValueCent: 'bigint',
    claimedAt: 'bigint',
  }),
});

/** The claimed benefits of one period, and their value together. */
export async function findClaimsOfPeriod(db: Queryable, orderNo: number, cycleNo: number): Promise<ClaimsOfPeriod> {
  const claims = await db.query(FIND_CLAIMS_OF_PERIOD, [orderNo, cycleNo]);
  return { claims, usedCent: claims.reduce((sum, claim) => sum + claim.faceValueCent, 0) };
}
