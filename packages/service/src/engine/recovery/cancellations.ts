import { alertText } from '../../alerts/alert-wordings.js';
import { raiseAlert, resolveAlert } from '../../alerts/alerts-sql.js';
import { columns, declareWrite, type Queryable, type RowOf, statement } from '../../platform/db/database.js';
import { numberInUseSql } from '../../subscriptions/store/agreements/cancel-unused-sql.js';
import { unsealInstitutionNo } from '../../subscriptions/store/agreements/card.js';
import { sameNumberSql } from '../../subscriptions/store/agreements/same-number-sql.js';
import { agreementStatusIs } from '../../subscriptions/store/statuses-sql.js';
import type { JobDeps } from '../job-deps.js';
import { recoverAllDue } from './recover.js';

export type CancellationDeps = Pick<JobDeps, 'database' | 'channels' | 'gateways' | 'log' | 'stopping'>;

type AgreementToCancel = RowOf<typeof LEASE_CANCELLATIONS>;

const LEASE_SECONDS = 30;
const MAX_TRIES = 10;
const MAX_PAUSE_SECONDS = 3600;

/** Cancels ended agreements at their institution. A failure raises an alert and changes no order. */
export async function cancelAtInstitutions(deps: CancellationDeps, paymentChannelCode?: string): Promise<number> {
  return recoverAllDue(
    {
      lease: (limit) => leaseCancellations(deps.database, limit, paymentChannelCode),
      finish: (agreement) => cancelAtInstitution(deps, agreement),
      async onFailure({ agreementNo }, err) {
        deps.log.warn({ err, agreementNo }, 'cancelling an agreement failed; it will be retried');
        const detail = alertText('agreement-cancel-failed|not-asked');
        await raiseAlert(deps.database, 'agreement-cancel-failed', agreementNo, detail).catch(() => undefined);
      },
    },
    deps.stopping,
  );
}

async function cancelAtInstitution(
  { database, channels, gateways }: CancellationDeps,
  agreement: AgreementToCancel,
): Promise<void> {
  const channel = await channels.getById(agreement.channelId);
  const gateway = await gateways.of(agreement.paymentChannelCode);
  const { agreementNo } = agreement;
  const outcome = await gateway
    .cancelAgreement({ appId: channel.appId, agreementNo, institutionNo: unsealInstitutionNo(channel, agreement) })
    .catch(() => ({ kind: 'unknown' }) as const);
  if (outcome.kind === 'canceled') {
    await finishCancellation(database, agreement.agreementId);
    if (agreement.tries > 1) {
      await resolveAlert(
        database,
        'agreement-cancel-failed',
        agreementNo,
        alertText('agreement-cancel-failed|resolved'),
      );
    }
    return;
  }
  const detail = outcome.kind === 'refused' ? outcome.reason : alertText('agreement-cancel-failed');
  await raiseAlert(database, 'agreement-cancel-failed', agreementNo, detail);
  if (outcome.kind === 'refused' || agreement.tries >= MAX_TRIES)
    return finishCancellation(database, agreement.agreementId);
  await scheduleCancellation(database, agreement.agreementId, Math.min(10 * 2 ** agreement.tries, MAX_PAUSE_SECONDS));
}

/**
 * Leases due cancellations of agreements. If this node dies, another takes over when the lease ends. Drops a
 * cancellation if the agreement number is in use again. Postpones it while a debit on a replaced binding is open.
 */
async function leaseCancellations(
  db: Queryable,
  limit: number,
  paymentChannelCode?: string,
): Promise<AgreementToCancel[]> {
  const leased = await db.query(LEASE_CANCELLATIONS, [limit, LEASE_SECONDS, paymentChannelCode ?? null]);
  return leased.filter(({ isKept }) => !isKept);
}

/** SQL: whether a binding with the same number is valid, even without orders. Institutions may reuse numbers. */
const isBoundAgainSql = (a: string) => `exists (
  select from agreements other
  where ${sameNumberSql('other', a)} and ${agreementStatusIs('other.status', 'BIND_SUCCESS')} and not other.number_released and other.source = 'SELF_BINDING')`;

/** SQL: true if another binding of the same card has replaced the binding `a`, and a debit on `a` is still open. */
const isBeingDebitedSql = (a: string) => {
  const isReplaced = agreementStatusIs(`${a}.status`, 'REPLACED');
  return `(${isReplaced} and exists (
  select from debit_attempts d where d.agreement_id = any(array[${a}.agreement_id]) and d.status = 'STARTED'))`;
};

const LEASE_CANCELLATIONS = statement({
  text: `with due as materialized (
       select a.agreement_id, ${numberInUseSql('a')} or ${isBoundAgainSql('a')} as used, ${isBeingDebitedSql('a')} as debited
       from agreements a where a.cancel_at <= now() and ($3::text is null or a.payment_channel_code = $3) order by a.cancel_at limit $1 for update skip locked
     )
     update agreements a set cancel_tries = a.cancel_tries + case when d.used or d.debited then 0 else 1 end,
       cancel_at = case when not d.used then now() + $2::integer * interval '1 s' end
     from due d where a.agreement_id = any(array[d.agreement_id])
     returning d.used or d.debited as "isKept", a.agreement_id as "agreementId", a.agreement_no as "agreementNo",
       a.institution_no as "institutionNo", a.channel_id as "channelId",
       a.payment_channel_code as "paymentChannelCode", a.cancel_tries as tries`,
  parameters: ['bigint', 'integer', 'text'],
  columns: columns({
    isKept: 'boolean',
    agreementId: 'bigint',
    agreementNo: 'text',
    institutionNo: 'text',
    channelId: 'bigint',
    paymentChannelCode: 'text',
    tries: 'integer',
  }),
});

const finishCancellation = declareWrite({
  text: 'update agreements set cancel_at = null where agreement_id = $1',
  parameters: ['bigint'],
});

const scheduleCancellation = declareWrite({
  text: `update agreements set cancel_at = now() + $2::integer * interval '1 s' where agreement_id = $1`,
  parameters: ['bigint', 'integer'],
});
