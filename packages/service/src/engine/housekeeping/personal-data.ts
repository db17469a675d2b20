import type { Channel } from '../../catalog/channels/channel.js';
import type { ChannelRegistry } from '../../catalog/channels/channel-registry.js';
import { columns, type Database, declareList, declareWrite, statement } from '../../platform/db/database.js';
import { DEBITABLE_ORDER_STATUSES } from '../../subscriptions/domain/orders/order-states.js';
import { sealMaskedCard } from '../../subscriptions/store/agreements/card.js';
import { agreementStatusIs, orderStatusIs } from '../../subscriptions/store/statuses-sql.js';
import { declareDailyScan } from './daily-scan.js';

/** Periods after which personal data is deleted. docs/privacy.md lists the data. */
export const NOTE_DAYS = 730;
export const USER_WITHOUT_ORDER_DAYS = 90;

/** A shared agreement belongs to one order, and may keep its status when the order ends. */
const IS_SHARED_WITHOUT_ORDER = `a.source = 'SHARED_FROM_CHANNEL' and ${agreementStatusIs('a.status', 'BIND_SUCCESS')} and not exists (
  select from orders o where o.agreement_id = a.agreement_id and ${orderStatusIs('o.status', ...DEBITABLE_ORDER_STATUSES)})`;

const markUnused = declareWrite({
  text: `update agreements set unused_since = now() where ctid = any(array(
       select a.ctid from agreements a where a.ctid >= $1::tid and a.ctid < $2::tid and a.unused_since is null
         and ${IS_SHARED_WITHOUT_ORDER} for update skip locked))`,
  parameters: ['tid', 'tid'],
});

const listEnded = declareList({
  text: `select a.agreement_id as "agreementId", a.channel_id as "channelId", a.card_tail as "cardTail", a.details
     from agreements a where a.ctid >= $1::tid and a.ctid < $2::tid
       and (a.data_deleted_at is null or a.data_deleted_at < a.changed_at)
       and case when ${agreementStatusIs('a.status', 'BIND_SUCCESS')} then a.unused_since <= now() - $3::integer * interval '1 day' and ${IS_SHARED_WITHOUT_ORDER}
         else a.changed_at <= now() - $3::integer * interval '1 day' end`,
  parameters: ['tid', 'tid', 'integer'],
  columns: columns({ agreementId: 'bigint', channelId: 'bigint', cardTail: 'text', details: 'text' }),
});

/** Compares the details, because a binding that failed may have begun again with another card. */
const STORE_MASKED = statement({
  text: `update agreements a set details = m.masked, data_deleted_at = now()
     from unnest($1::bigint[], $2::text[], $3::text[]) as m(agreement_id, details, masked)
     where a.agreement_id = m.agreement_id and a.details = m.details returning 1`,
  parameters: ['bigint[]', 'text[]', 'text[]'],
});

/**
 * Masks the card number, document, name and bank mobile of agreements that have been in one of these states for `days`
 * days: ended, binding not completed, or shared without an order that may be debited. Keeps the hashes and the last
 * four digits.
 */
export const createAgreementMasking = (database: Database, channels: ChannelRegistry, days: number) =>
  scanAgreements(database, async (pages) => {
    await markUnused(database, pages.from, pages.to);
    const ended = await listEnded(database, pages.from, pages.to, days);
    const channelsOf = new Map<number, Channel>();
    for (const { channelId } of ended) {
      if (!channelsOf.has(channelId)) channelsOf.set(channelId, await channels.getById(channelId));
    }
    const masked = ended.map(({ agreementId, channelId, cardTail }) =>
      sealMaskedCard(channelsOf.get(channelId) as Channel, agreementId, cardTail),
    );
    if (ended.length === 0) return 0;
    const ids = ended.map(({ agreementId }) => agreementId);
    const details = ended.map((one) => one.details);
    return (await database.query(STORE_MASKED, [ids, details, masked])).length;
  });
const scanAgreements = declareDailyScan('agreements-masked', 'agreements');

const IS_UNUSED_USER = `u.bound_at <= now() - interval '${USER_WITHOUT_ORDER_DAYS} days'
         and not exists (select from external_orders e
           where e.user_key = key_of(u.channel_user_id) and e.channel_id = u.channel_id)
         and not exists (select from agreements a where key_of(a.channel_user_id) = key_of(u.channel_user_id)
           and a.channel_id = u.channel_id and ${agreementStatusIs('a.status', 'BIND_SUCCESS', 'BIND_ING')})`;

const lockUnusedUsers = declareList({
  text: `select u.ctid as row from channel_users u where u.ctid >= $1::tid and u.ctid < $2::tid and ${IS_UNUSED_USER}
       for update skip locked`,
  parameters: ['tid', 'tid'],
  columns: columns({ row: 'tid' }),
  value: ({ row }) => row,
});

const DELETE_UNUSED_USERS = statement({
  text: `delete from channel_users u where u.ctid = any($1::tid[]) and ${IS_UNUSED_USER} returning 1`,
  parameters: ['tid[]'],
});
const scanUsers = declareDailyScan('users-deleted', 'channel_users');

/**
 * Deletes login mobiles after USER_WITHOUT_ORDER_DAYS, if their user never ordered and has no agreement that is bound
 * or being bound. Checks that again once the users are locked: an order may have been stored in between. Later orders
 * do not wait for the lock. They fail and can be sent again.
 */
export const createUserDeletion = (database: Database) =>
  scanUsers(database, ({ from, to }) =>
    database.transaction(async (tx) => {
      const rows = await lockUnusedUsers(tx, from, to);
      return rows.length === 0 ? 0 : (await tx.query(DELETE_UNUSED_USERS, [rows])).length;
    }),
  );
