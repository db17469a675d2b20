/** Maximum number of entries on the page of a single list. */
export const PAGE_ENTRIES = 20;
/** Maximum numbers of entries on the main page, which shows several lists. */
export const FIRST_TO_CLAIM = 12;
export const FIRST_CODES = 4;
export const FIRST_PAYMENTS = 4;
