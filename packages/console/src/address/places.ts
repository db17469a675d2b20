import { stringifySearch } from './search-text.ts';

type Filters = Readonly<Record<string, string | null | undefined>>;

/** Builds the URLs of pages that other pages link to, relative to the console's own URL. PlaceLink opens them. */
export const places = {
  orders: (filters: Filters = {}) => `/orders${stringifySearch(filters)}`,
  order: (orderNo: string, period?: string) => `/orders/${encodeURIComponent(orderNo)}${stringifySearch({ period })}`,
  user: (appId: string, channelUserId: string) => `/users${stringifySearch({ appId, channelUserId })}`,
  payments: (filters: Filters = {}) => `/payments${stringifySearch(filters)}`,
  failedPayments: (filters: Filters = {}) => `/payments${stringifySearch({ tab: 'failed', ...filters })}`,
  bulkRun: (runId: string) => `/bulk/${encodeURIComponent(runId)}`,
  approvals: (filters: Filters = {}) => `/approvals${stringifySearch(filters)}`,
  events: (filters: Filters = {}) => `/events${stringifySearch(filters)}`,
  requests: (filters: Filters = {}) => `/requests${stringifySearch(filters)}`,
  alerts: (filters: Filters = {}) => `/alerts${stringifySearch(filters)}`,
  settlement: (month?: string) => `/settlement${stringifySearch({ month })}`,
  settlementLines: (month: string, appId: string) => `/settlement/lines${stringifySearch({ month, appId })}`,
  differences: (filters: Filters = {}) => `/reconciliation${stringifySearch(filters)}`,
  channel: (appId: string) => `/channels/${encodeURIComponent(appId)}`,
  product: (productCode: string) => `/products/${encodeURIComponent(productCode)}`,
  paymentChannels: () => '/payment-channels',
  paymentChannel: (code: string) => `/payment-channels${stringifySearch({ code })}`,
  benefits: () => '/benefits',
  audit: (filters: Filters = {}) => `/audit${stringifySearch(filters)}`,
} as const;
