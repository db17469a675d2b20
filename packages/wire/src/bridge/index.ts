/**
 * The bridge protocol, shared by the service and the bridges: see docs/bridge.md and docs/bridge.openapi.json. It knows
 * neither orders nor institutions. Code suppliers use the same protocol (docs/supplier.md).
 */
export { DEFAULT_CURRENCY, parseCurrency } from '../currency.js';
export { type DeclineKind, declineKinds } from '../enums.js';
export { CONTENT_TYPE } from '../headers.js';
export * from './derive-decline-kind.js';
export * from './fields.js';
export * from './messages.js';
export * from './signing.js';
