import { columns, type Queryable, statement } from '../../platform/db/database.js';
import { createNotFound } from '../rules.js';

const FIND_PERSON = statement({
  text: `select name from people where lower(name) = lower($1) and status = 'ACTIVE'`,
  parameters: ['text'],
  columns: columns({ name: 'text' }),
});

/** Returns the stored name of an active operator. Throws if there is none. */
export async function requireActivePerson(db: Queryable, name: string): Promise<string> {
  const [person] = await db.query(FIND_PERSON, [name]);
  if (!person) throw createNotFound('active person', name);
  return person.name;
}
