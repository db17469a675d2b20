export * from '#platform';
export * from './codes.js';
export * from './diagnosis/index.js';
export * from './encrypted-fields.js';
export * from './endpoints.js';
export * from './enums.js';
export * from './envelope.js';
export * from './event-contract.js';
export * from './headers.js';
export * from './limits.js';
export * from './redeem-link.js';
export * from './rejection.js';
export * from './remember-recent.js';
export * from './schemas/agreements.js';
export * from './schemas/auth.js';
export {
  Enum,
  Identifier,
  Nullable,
  PagingRequest,
  pageFields,
  pageOf,
  pagingChecks,
  pagingFields,
  STORABLE,
  Time,
} from './schemas/common.js';
export * from './schemas/events.js';
export * from './schemas/events-history.js';
export * from './schemas/events-pull.js';
export * from './schemas/order-reference.js';
export * from './schemas/orders.js';
export * from './schemas/orders-advance.js';
export * from './schemas/orders-create-checks.js';
export * from './schemas/payment-channels.js';
export * from './schemas/payments.js';
export * from './schemas/payments-refund.js';
export * from './schemas/products.js';
export * from './schemas/shared-agreement.js';
export {
  type AnySchema,
  type ArraySchema,
  type ObjectSchema,
  type Optional,
  type Schema,
  type Static,
  Type,
} from './schemas/type.js';
export * from './signing.js';
export * from './time.js';
