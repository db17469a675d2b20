/** The time limit of a call to a supplier. It is short, because a user waits on the page. */
export const SUPPLIER_DEADLINE_MS = 8_000;

/** Seconds until a refused claim is sent again. A refusal is not final, because the user was promised the benefit. */
export const REFUSED_ASK_SECONDS = 3600;
