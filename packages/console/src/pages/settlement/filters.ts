export const SETTLEMENT_FILTERS = ['month'] as const;
/** The filters of the lines. They are named like the API's parameters. */
export const LINE_FILTERS = ['month', 'appId', 'kind', 'productCode', 'settlementMode'] as const;
