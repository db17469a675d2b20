import { columns, type Queryable, queryOne, type RowOf, statement } from '../platform/db/database.js';
import { shanghaiText } from '../platform/db/time-sql.js';

/** An operator's comment on an alert. */
export type AlertComment = RowOf<typeof LIST_COMMENTS>;

const STORE_COMMENT = statement({
  text: `insert into alert_comments (kind, subject, author, text, at) values ($1, $2, $3, $4, now())
     returning comment_id::text as "commentNo"`,
  parameters: ['text', 'text', 'text', 'text'],
  columns: columns({ commentNo: 'text' }),
});

export async function storeAlertComment(
  tx: Queryable,
  alert: { readonly kind: string; readonly subject: string },
  { author, text }: Pick<AlertComment, 'author' | 'text'>,
): Promise<string> {
  return (await queryOne(tx, STORE_COMMENT, [alert.kind, alert.subject, author, text]))?.commentNo ?? '';
}

const LIST_COMMENTS = statement({
  text: `select author, ${shanghaiText('at')} as at, text from alert_comments where kind = $1 and subject = $2
     order by comment_id desc limit 1000`,
  parameters: ['text', 'text'],
  columns: columns({ author: 'text', at: 'text', text: 'text' }),
});

/** Returns the latest thousand comments, oldest first. */
export async function listAlertComments(db: Queryable, kind: string, subject: string): Promise<AlertComment[]> {
  return (await db.query(LIST_COMMENTS, [kind, subject])).reverse();
}
