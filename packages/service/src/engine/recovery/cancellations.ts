import type { Logger } from 'pino';
import type { ChannelRegistry } from '../../catalog/channels/registry.js';
import type { Gateways } from '../../gateways/registry.js';
import { raiseAlert, resolveAlert } from '../../platform/alerts/alerts-sql.js';
import { columns, type Database, type Queryable, statement } from '../../platform/db/database.js';
import { isInUse } from '../../subscriptions/store/agreements/cancel-sql.js';
import { institutionNo } from '../../subscriptions/store/agreements/card.js';
import { sameNumber } from '../../subscriptions/store/agreements/number-sql.js';
import { agreementIs } from '../../subscriptions/store/statuses-sql.js';
import { recover } from './recover.js';

export interface CancellationDeps {
  readonly database: Database;
  readonly channels: ChannelRegistry;
  readonly gateways: Gateways;
  readonly log: Logger;
  readonly stopping?: () => boolean;
}

interface Canceled {
  readonly agreementId: number;
  readonly agreementNo: string;
  readonly institutionNo: string;
  readonly channelId: number;
  readonly paymentChannelCode: string;
  readonly tries: number;
}

const LEASE_SECONDS = 30;
const MAX_TRIES = 10;
const LONGEST_SECONDS = 3600;

/**
 * Agreements that ended here are ended at their institution too. Failing raises an alert and changes no order. Of one payment
 * channel, or of all.
 */
export async function cancelAtInstitutions(deps: CancellationDeps, paymentChannelCode?: string): Promise<number> {
  return recover(
    {
      claim: (limit) => claim(deps.database, limit, paymentChannelCode),
      finish: (agreement) => cancel(deps, agreement),
      async onFailure({ agreementNo }, err) {
        deps.log.warn({ err, agreementNo }, 'cancelling an agreement failed');
        const detail = 'it cannot be asked for';
        await raiseAlert(deps.database, 'agreement-cancel-failed', agreementNo, detail).catch(() => undefined);
      },
    },
    deps.stopping,
  );
}

async function cancel({ database, channels, gateways }: CancellationDeps, agreement: Canceled): Promise<void> {
  const channel = await channels.byId(agreement.channelId);
  const gateway = await gateways.of(agreement.paymentChannelCode);
  const { agreementNo } = agreement;
  const outcome = await gateway
    .cancelAgreement({ appId: channel.appId, agreementNo, institutionNo: institutionNo(channel, agreement) })
    .catch(() => ({ kind: 'unknown' }) as const);
  if (outcome.kind === 'canceled') {
    await finish(database, agreement.agreementId);
    if (agreement.tries > 1) {
      await resolveAlert(database, 'agreement-cancel-failed', agreementNo, 'the institution has canceled it');
    }
    return;
  }
  const detail = outcome.kind === 'refused' ? outcome.reason : 'no answer';
  await raiseAlert(database, 'agreement-cancel-failed', agreementNo, detail);
  if (outcome.kind === 'refused' || agreement.tries >= MAX_TRIES) return finish(database, agreement.agreementId);
  await again(database, agreement.agreementId, Math.min(10 * 2 ** agreement.tries, LONGEST_SECONDS));
}

/**
 * For this node alone until the lease is over, which is also when it is tried again should this node die. A number that has
 * come into use again meanwhile is not canceled any more, and one that a debit on the way was sent with not yet.
 */
async function claim(db: Queryable, limit: number, paymentChannelCode?: string): Promise<Canceled[]> {
  const claimed = await db.query(CLAIM, [limit, LEASE_SECONDS, paymentChannelCode ?? null]);
  return claimed.filter(({ isKept }) => !isKept);
}

/** A binding needs no order to be alive: its institution may have given it the number of an earlier one. */
const isBoundAgain = (a: string) => `exists (
  select from agreements other
  where ${sameNumber('other', a)} and ${agreementIs('other.status', 'BIND_SUCCESS')} and not other.number_released and other.source = 'SELF_BINDING')`;

/** Of a binding that another of the same card replaced: its orders have moved there, but a debit is still on this one. */
const isBeingDebited = (a: string) => `(${agreementIs(`${a}.status`, 'REPLACED')} and exists (
  select from debit_attempts d where d.agreement_id = any(array[${a}.agreement_id]) and d.status = 'STARTED'))`;

const CLAIM = statement({
  text: `with due as materialized (
       select a.agreement_id, ${isInUse('a')} or ${isBoundAgain('a')} as used, ${isBeingDebited('a')} as debited
       from agreements a where a.cancel_at <= now() and ($3::text is null or a.payment_channel_code = $3) order by a.cancel_at limit $1 for update skip locked
     )
     update agreements a set cancel_tries = a.cancel_tries + case when d.used or d.debited then 0 else 1 end,
       cancel_at = case when not d.used then now() + $2::integer * interval '1 s' end
     from due d where a.agreement_id = any(array[d.agreement_id])
     returning d.used or d.debited as "isKept", a.agreement_id as "agreementId", a.agreement_no as "agreementNo",
       a.institution_no as "institutionNo", a.channel_id as "channelId",
       a.payment_channel_code as "paymentChannelCode", a.cancel_tries as tries`,
  parameters: ['bigint', 'integer', 'text'],
  columns: columns<Canceled & { readonly isKept: boolean }>({
    isKept: 'boolean',
    agreementId: 'bigint',
    agreementNo: 'text',
    institutionNo: 'text',
    channelId: 'bigint',
    paymentChannelCode: 'text',
    tries: 'integer',
  }),
});

const FINISH = statement({
  text: 'update agreements set cancel_at = null where agreement_id = $1',
  parameters: ['bigint'],
});

async function finish(db: Queryable, agreementId: number): Promise<void> {
  await db.query(FINISH, [agreementId]);
}

const AGAIN = statement({
  text: `update agreements set cancel_at = now() + $2::integer * interval '1 s' where agreement_id = $1`,
  parameters: ['bigint', 'integer'],
});

async function again(db: Queryable, agreementId: number, seconds: number): Promise<void> {
  await db.query(AGAIN, [agreementId, seconds]);
}
