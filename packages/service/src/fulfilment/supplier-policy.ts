/** How long a supplier may take to answer: a user is waiting at the page. */
export const SUPPLIER_DEADLINE_MS = 8_000;

/** When a supplier that has refused is asked again: the refusal is not final, since the user was promised the benefit. */
export const REFUSED_ASK_SECONDS = 3600;
