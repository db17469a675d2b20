import { columns } from '../../platform/db/database.js';
import { declareFind, declareHas, declareWrite, type Query } from '../../platform/db/declared.js';
import { shanghaiText } from '../../platform/db/time-sql.js';

/**
 * Serializes changes that may need a second admin, so that each change sees the admins as they are after the previous
 * change.
 */
export const lockChanges: Query<[], void> = declareWrite({
  text: `select pg_advisory_xact_lock(hashtextextended('changes by two', 0))`,
  parameters: [],
});

export const isActive: Query<[name: string, roles: readonly string[]], boolean> = declareHas({
  text: `select from people where name = $1 and role = any($2::text[]) and status = 'ACTIVE'`,
  parameters: ['text', 'text[]'],
});

/** Returns true if an operator with another name and one of these roles can sign in. */
export const hasOtherDecider: Query<[name: string, roles: readonly string[]], boolean> = declareHas({
  text: `select from people where name <> $1 and role = any($2::text[]) and status = 'ACTIVE'
       and (password_hash is not null or single_sign_on is not null) limit 1`,
  parameters: ['text', 'text[]'],
});

/** Returns true if an admin's account is disabled, or if any admin was ever demoted. */
export const hadOtherAdmin: Query<[], boolean> = declareHas({
  text: `select from people where role = 'admin' and status = 'DISABLED'
     union all
     select from audit_log where action = 'person.set-role' and detail ->> 'from' = 'admin' limit 1`,
  parameters: [],
});

const DEPENDENT_DAYS = 7;

/**
 * Returns the time from which two operators may decide each other's requests, or undefined if they may decide now. They
 * may not decide for seven days after one of them has created, reset or enabled the other's account, or has given it
 * a role that requests or decides. The same applies if one operator of the console has done this to both accounts, because
 * that operator has seen both setup links.
 */
export const findDependentUntil: Query<[one: string, other: string], string | undefined> = declareFind({
  text: `with given as (
       select subject, actor, at from audit_log
       where subject in ($1, $2) and at > now() - interval '${DEPENDENT_DAYS} days'
         and (action in ('person.create', 'person.reset', 'person.enable')
           or action = 'person.set-role' and detail ->> 'to' in ('support', 'finance', 'admin'))),
     dependent as (
       select at from given where actor in ($1, $2) and actor <> subject
       union all
       select least(a.at, b.at) from given a join given b using (actor)
       where a.subject = $1 and b.subject = $2 and actor in (select name from people))
     select ${shanghaiText(`at + interval '${DEPENDENT_DAYS} days'`)} as until from dependent order by at desc limit 1`,
  parameters: ['text', 'text'],
  columns: columns({ until: 'text' }),
  value: ({ until }) => until,
});

/**
 * Returns an admin who controls both operators: the admin has created or last reset both accounts without a second
 * admin, or one of them and is the other. That admin may still have the password, because no second admin knows of the
 * setup link. An account of support counts however long ago it was made. An account of another role counts for seven days,
 * and only if the same admin also made the other account: `findDependentUntil` covers an account and its maker.
 */
export const findMakerAlone: Query<[one: string, other: string], { maker: string; account: string } | undefined> =
  declareFind({
    text: `with alone as (
       select p.name, p.role, made.actor from people p, lateral (
         select a.actor, a.at, a.detail from audit_log a
         where a.subject = p.name and a.action in ('person.create', 'person.reset') order by a.chain_no desc limit 1) made
       where p.name in ($1, $2) and made.actor <> p.name and not made.detail ? 'approvedBy'
         and (p.role = 'support' or made.at > now() - interval '${DEPENDENT_DAYS} days'))
     select actor as maker, name as account from alone where role = 'support' and actor in ($1, $2)
     union all
     select actor, $1 || ', ' || $2 from alone where actor in (select name from people)
       group by actor having count(*) = 2
     limit 1`,
    parameters: ['text', 'text'],
    columns: columns({ maker: 'text', account: 'text' }),
  });
