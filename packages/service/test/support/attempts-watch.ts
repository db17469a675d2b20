import type { Database } from '../../src/platform/db/database.js';

/**
 * Creates a trigger that checks the agreement of every new attempt. The trigger runs at the end of the statement that
 * inserts the attempt, and sees everything that was committed until then. Returns a function that lists the attempts
 * that were stored since its last call and had no bound agreement.
 */
export async function watchAttempts(database: Database): Promise<() => Promise<string[]>> {
  await database.query('create table attempts_not_bound (what text not null)');
  await database.query(
    `create function watch_attempt() returns trigger language plpgsql as $$
     declare found text := (select status from agreements where agreement_id = new.agreement_id);
     begin
       if found is distinct from 'BIND_SUCCESS' then
         insert into attempts_not_bound values (format('attempt %s/%s/%s was written on an agreement that is %s',
           new.order_no, new.cycle_no, new.try_no, coalesce(found, 'not there')));
       end if;
       return null;
     end $$`,
  );
  await database.query(
    'create trigger watch_attempt after insert on debit_attempts for each row execute function watch_attempt()',
  );
  return async () => {
    const rows = await database.query<{ what: string }>('delete from attempts_not_bound returning what');
    return rows.map(({ what }) => what);
  };
}
