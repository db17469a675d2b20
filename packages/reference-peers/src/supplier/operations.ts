/** What a supplier is asked for; docs/supplier.md is the text of it. */
export const SUPPLIER_OPERATIONS = ['fulfil', 'fulfil-query'] as const;
export type SupplierOperation = (typeof SUPPLIER_OPERATIONS)[number];
