import { columns } from '../../platform/db/database.js';
import { declareList, declareRequire, type Query } from '../../platform/db/declared.js';
import { IS_NAMED } from './people-sql.js';

/**
 * The maximum number of pairs of name and address that are counted separately per minute, so that the audit log is not
 * flooded.
 */
const MAX_APART = 20;

/**
 * Counts a failed sign-in and returns the name if an account has it. A name without an account is not stored, because
 * operators sometimes type their password into the name field.
 */
export const traceFailure: Query<[name: string, address: string], { readonly name: string | null }> = declareRequire({
  text: `with known as (
       select date_trunc('minute', now()) as minute, (select p.name from people p where ${IS_NAMED}) as name
     ), traced as (
       insert into sign_in_traces as t (minute, name, address)
       select k.minute, case when r.fits then coalesce(k.name, '') else '' end, case when r.fits then $2 else '' end
       from known k, lateral (
         select count(*) < ${MAX_APART} or bool_or(s.name = coalesce(k.name, '') and s.address = $2) as fits
         from sign_in_traces s where s.minute = k.minute) r
       on conflict (minute, name, address) do update set failures = t.failures + 1)
     select name from known`,
  parameters: ['text', 'text'],
  columns: columns({ name: 'text?' }),
});

/** Removes and returns the failures of past minutes. */
export const takeTraces = declareList({
  text: `delete from sign_in_traces where minute < date_trunc('minute', now())
     returning extract(epoch from minute)::bigint as minute, name, address, failures`,
  parameters: [],
  columns: columns({ minute: 'bigint', name: 'text', address: 'text', failures: 'integer' }),
});
