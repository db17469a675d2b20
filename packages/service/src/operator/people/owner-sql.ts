import { columns, type Queryable, statement } from '../../platform/db/database.js';
import { createNotFound } from '../rules.js';
import { IS_NAMED } from './people-sql.js';

const FIND_PERSON = statement({
  text: `select p.name from people p where ${IS_NAMED} and p.status = 'ACTIVE'`,
  parameters: ['text'],
  columns: columns({ name: 'text' }),
});

/** Returns the stored name of an active operator. Throws if there is none. */
export async function requireActivePerson(db: Queryable, name: string): Promise<string> {
  const [person] = await db.query(FIND_PERSON, [name]);
  if (!person) throw createNotFound('active person', name);
  return person.name;
}
