import { acknowledgedOf } from './books/acknowledged.mjs';
import { eventsOfOrder } from './books/events.mjs';
import { institutionOf } from './books/institution.mjs';
import { periodsOfOrder } from './books/periods.mjs';
import { pushesOf } from './books/pushes.mjs';
import { readState } from './books/state.mjs';

/**
 * Compares the stored state with what the callers (`writes`), the institution (`ledger`) and the channel (`received`,
 * with its `aesKey`) know. Also compares the stored state with itself. Returns a finding for everything lost, doubled
 * or wrong, with the name of its book.
 */
export async function booksOf(database, known) {
  const state = await readState(database);
  const orders = [...state.orders.values()];
  const books = {
    acknowledged: acknowledgedOf(state, known),
    institution: institutionOf(state, known),
    periods: orders.flatMap(periodsOfOrder),
    events: [...orders.flatMap(eventsOfOrder), ...pushesOf(state, known)],
  };
  return Object.entries(books).flatMap(([book, findings]) => findings.map((finding) => ({ ...finding, book })));
}
