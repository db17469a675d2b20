import type { FulfilmentKind } from '../../../fulfilment/fulfilment.js';
import type { Queryable } from '../../../platform/db/database.js';
import { instant, ms } from '../../../platform/db/time-sql.js';
import type { BenefitReference } from '../../domain/benefits/claim-numbers.js';

export interface ClaimedBenefit {
  readonly benefitCode: string;
  readonly faceValueCent: number;
}

/** The one update that makes a benefit claimed. Nothing when it is not there to be claimed at that time. */
export async function claimBenefit(
  tx: Queryable,
  channelId: number,
  { orderNo, cycleNo, position }: BenefitReference,
  claimNo: string,
  at: number,
): Promise<ClaimedBenefit | undefined> {
  const [benefit] = await tx.query<ClaimedBenefit>(
    {
      name: 'claim-benefit',
      text: `update benefits set status = 'CLAIMED', claim_no = $5, claimed_at = ${instant('$6')}
             where order_no = $1 and cycle_no = $2 and position = $3 and channel_id = $4 and status = 'ISSUED'
               and expires_at > ${instant('$6')}
             returning benefit_code as "benefitCode", face_value_cent as "faceValueCent"`,
    },
    [orderNo, cycleNo, position, channelId, claimNo, at],
  );
  return benefit;
}

export type BenefitStatus = 'ISSUED' | 'CLAIMED' | 'REVOKED' | 'EXPIRED';

export async function findBenefitStatus(
  tx: Queryable,
  channelId: number,
  { orderNo, cycleNo, position }: BenefitReference,
): Promise<BenefitStatus | undefined> {
  const [benefit] = await tx.query<{ status: BenefitStatus }>(
    'select status from benefits where order_no = $1 and cycle_no = $2 and position = $3 and channel_id = $4',
    [orderNo, cycleNo, position, channelId],
  );
  return benefit?.status;
}

export interface NewClaim extends BenefitReference {
  readonly channelId: number;
  readonly benefitCode: string;
  readonly fulfilment: FulfilmentKind;
  /** Sealed. Unset: the claim waits for it. */
  readonly code: string | undefined;
  readonly claimedAt: number;
  /** When a supplier is asked about it, should nobody have heard of it by then. */
  readonly askAfterSeconds: number | undefined;
}

export async function insertClaim(tx: Queryable, claim: NewClaim): Promise<void> {
  await tx.query(
    {
      name: 'insert-claim',
      text: `insert into claims (order_no, cycle_no, position, channel_id, benefit_code, fulfilment, status, code,
               claimed_at, fulfilled_at, ask_at)
             values ($1, $2, $3, $4, $5, $6, case when $7::text is null then 'PENDING' else 'FULFILLED' end, $7,
               ${instant('$8')}, case when $7::text is not null then ${instant('$8')} end,
               now() + $9::double precision * interval '1 s')`,
    },
    [
      claim.orderNo,
      claim.cycleNo,
      claim.position,
      claim.channelId,
      claim.benefitCode,
      claim.fulfilment,
      claim.code ?? null,
      claim.claimedAt,
      claim.askAfterSeconds ?? null,
    ],
  );
}

/** Sealed codes of claims. One that has its code keeps it. */
export async function storeClaimCodes(
  db: Queryable,
  claims: readonly (BenefitReference & { readonly code: string })[],
  at: number,
): Promise<void> {
  await db.query(
    `update claims c set status = 'FULFILLED', code = g.code, fulfilled_at = ${instant('$5')}, ask_at = null
     from unnest($1::bigint[], $2::integer[], $3::integer[], $4::text[]) as g(order_no, cycle_no, position, code)
     where c.order_no = g.order_no and c.cycle_no = g.cycle_no and c.position = g.position and c.status = 'PENDING'`,
    [
      claims.map(({ orderNo }) => orderNo),
      claims.map(({ cycleNo }) => cycleNo),
      claims.map(({ position }) => position),
      claims.map(({ code }) => code),
      at,
    ],
  );
}

/** A claim without its code. */
export interface WaitingClaim extends BenefitReference, ClaimedBenefit {
  readonly channelId: number;
  readonly claimedAt: number;
  readonly asked: number;
}

const WAITING = `c.order_no as "orderNo", c.cycle_no as "cycleNo", c.position, c.channel_id as "channelId",
  c.benefit_code as "benefitCode", ${ms('c.claimed_at')} as "claimedAt", c.asked,
  (select b.face_value_cent from benefits b
   where b.order_no = c.order_no and b.cycle_no = c.cycle_no and b.position = c.position) as "faceValueCent"`;

/** Claims of one benefit whose supplier is to be asked now, for this node alone until `leaseSeconds` have passed. */
export async function takeClaimsToAsk(
  db: Queryable,
  benefitCode: string,
  limit: number,
  leaseSeconds: number,
): Promise<WaitingClaim[]> {
  return db.query<WaitingClaim>(
    `update claims c set ask_at = now() + $3::double precision * interval '1 s', asked = c.asked + 1
     where (c.order_no, c.cycle_no, c.position) in (
       select d.order_no, d.cycle_no, d.position from claims d
       where d.benefit_code = $1 and d.ask_at <= now() order by d.ask_at limit $2 for update skip locked)
     returning ${WAITING}`,
    [benefitCode, limit, leaseSeconds],
  );
}

export async function askAboutClaimIn(
  db: Queryable,
  { orderNo, cycleNo, position }: BenefitReference,
  seconds: number,
): Promise<void> {
  await db.query(
    `update claims set ask_at = now() + $4::double precision * interval '1 s'
     where order_no = $1 and cycle_no = $2 and position = $3 and status = 'PENDING'`,
    [orderNo, cycleNo, position, seconds],
  );
}

/** Those that wait for codes of a pool, the oldest first, as far as nobody else is serving them. */
export async function lockWaitingForPool(tx: Queryable, benefitCode: string, limit: number): Promise<WaitingClaim[]> {
  return tx.query<WaitingClaim>(
    `select ${WAITING} from claims c where c.benefit_code = $1 and c.status = 'PENDING' and c.fulfilment = 'POOL'
     order by c.claimed_at, c.order_no, c.cycle_no, c.position limit $2 for update skip locked`,
    [benefitCode, limit],
  );
}

/** Benefits with claims that wait for a code of the pool, and with codes in it. */
export async function benefitsToServe(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ benefitCode: string }>(
    `select f.benefit_code as "benefitCode" from benefit_fulfilments f
     where exists (select from claims c
         where c.benefit_code = f.benefit_code and c.status = 'PENDING' and c.fulfilment = 'POOL')
       and exists (select from pool_codes p where p.benefit_code = f.benefit_code and p.given_to is null)`,
  );
  return rows.map(({ benefitCode }) => benefitCode);
}
