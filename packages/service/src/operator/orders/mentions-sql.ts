import { columns, declareList, type RowOf } from '../../platform/db/database.js';
import { declareHas, type Query } from '../../platform/db/declared.js';
import { shanghaiText } from '../../platform/db/time-sql.js';

/**
 * Stores that a note mentions the active operators with these names or roles, in lower case, except its author. Returns
 * their names.
 */
export const insertMentions: Query<[noteId: string, names: readonly string[], author: string], string[]> = declareList({
  text: `with found as (
       select p.person_id, p.name from people p
       where p.status = 'ACTIVE' and p.name <> $3 and (lower(p.name) = any($2::text[]) or p.role = any($2::text[]))
     ), stored as (
       insert into mentions (note_id, person_id) select $1::bigint, f.person_id from found f
     )
     select f.name from found f order by f.name`,
  parameters: ['bigint', 'text[]', 'text'],
  columns: columns({ name: 'text' }),
  value: ({ name }) => name,
});

export type Mention = RowOf<typeof MENTION_COLUMNS>;

const MENTION_COLUMNS = columns({ noteId: 'bigint', orderNo: 'text', author: 'text', at: 'text', text: 'text' });

/** Returns the notes that mention an operator and are not dismissed, latest first. */
export const findUnseenMentions: Query<[personId: number, before: number | undefined, limit: number], Mention[]> =
  declareList({
    text: `select n.note_id as "noteId", n.order_no::text as "orderNo", n.author, ${shanghaiText('n.at')} as at, n.text
     from mentions m join order_notes n using (note_id)
     where m.person_id = $1 and m.seen_at is null and ($2::bigint is null or m.note_id < $2)
     order by m.note_id desc limit $3`,
    parameters: ['bigint', 'bigint?', 'bigint'],
    columns: MENTION_COLUMNS,
  });

/** Returns false if no note with this number mentions the operator. */
export const storeMentionSeen: Query<[noteId: number, personId: number], boolean> = declareHas({
  text: `update mentions set seen_at = coalesce(seen_at, now()) where note_id = $1 and person_id = $2 returning 1`,
  parameters: ['bigint', 'bigint'],
});
