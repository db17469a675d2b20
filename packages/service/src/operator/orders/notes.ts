import { recordAudit } from '../audit/audit.js';
import { inTransaction, type Operator, refusal } from '../operator.js';
import { findMentions } from './mentions.js';
import { insertMentions } from './mentions-sql.js';
import { requireOrder } from './show-order.js';
import { insertNote, type OrderNote } from './timeline/timeline-sql.js';

const MAX_CHARACTERS = 2000;

/**
 * Adds a note to an order. Operators whom the note mentions by name or role see it among their mentions. The audit log
 * omits the note's text, because it may contain personal data.
 */
export async function addNote(
  operator: Operator,
  { orderNo, text }: { readonly orderNo: string; readonly text: string },
): Promise<OrderNote & { readonly mentioned: readonly string[] }> {
  const note = text.trim();
  const length = [...note].length;
  if (length < 1 || length > MAX_CHARACTERS) {
    throw refusal('note-length')`a note must have 1 to ${MAX_CHARACTERS} characters, not ${length}`;
  }
  // PostgreSQL cannot store a text that contains a zero character.
  if (note.includes('\0')) throw refusal('note-characters')`a note must not contain control characters`;
  return inTransaction(operator, async (tx) => {
    const order = await requireOrder(tx, { orderNo });
    const written = await insertNote(tx, order.orderNo, operator.actor, note);
    const { noteId } = written;
    const words = findMentions(note);
    const mentioned = words.length === 0 ? [] : await insertMentions(tx, noteId, words, operator.actor);
    const detail = { noteId, ...(mentioned.length > 0 && { mentioned }) };
    await recordAudit(tx, { actor: operator.actor, action: 'order.note', subject: orderNo, detail });
    return { ...written, mentioned };
  });
}
