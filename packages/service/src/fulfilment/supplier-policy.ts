/** What a supplier gets for an answer: somebody looks at the page meanwhile. */
export const SUPPLIER_DEADLINE_MS = 8_000;

/** A refusal is not the end, as the user was promised something: the supplier is asked again so much later. */
export const REFUSED_ASK_SECONDS = 3600;
