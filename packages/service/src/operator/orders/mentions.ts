import type { Operator } from '../operator.js';
import { type PageInput, readPage } from '../paging.js';
import { createNotFound } from '../rules.js';
import { findUnseenMentions, storeMentionSeen } from './mentions-sql.js';

interface Reader {
  readonly personId: number;
}

/**
 * Returns the names and roles that a note may mention, in lower case: each word after an @, with and without the
 * punctuation at its end. The characters are those of operators' names.
 */
export function findMentions(note: string): string[] {
  const words = [...note.matchAll(/(?<![\w@.+-])@([\w.@+-]+)/g)].map(([, word = '']) => word.toLowerCase());
  return [...new Set(words.flatMap((word) => [word, word.replace(/(?<![.@+_-])[.@+_-]+$/, '')]))];
}

/** Returns a page of the notes that mention the operator and are not dismissed, latest first. */
export async function listMentions({ database }: Operator, input: PageInput, { personId }: Reader) {
  const { rows, nextCursor } = await readPage(
    'mentions',
    input,
    [0],
    (after, limit) => findUnseenMentions(database, personId, after?.[0], limit),
    ({ noteId }) => [noteId],
  );
  return { mentions: rows.map((row) => ({ ...row, noteId: String(row.noteId) })), nextCursor };
}

/** Removes a note from the operator's list of mentions. */
export async function dismissMention(
  { database }: Operator,
  { noteId }: { readonly noteId: string },
  { personId }: Reader,
): Promise<{ readonly noteId: string }> {
  const isNumber = /^[1-9]\d{0,14}$/.test(noteId);
  if (!isNumber || !(await storeMentionSeen(database, Number(noteId), personId)))
    throw createNotFound('mention', noteId);
  return { noteId };
}
