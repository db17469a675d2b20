/**
 * What both ends of a bridge agree on; docs/bridge.md is the text of it, docs/bridge.openapi.json its schemas. Nothing
 * here knows of orders, and nothing of an institution. A supplier of codes is spoken to in the same way (docs/supplier.md).
 */
export { DEFAULT_CURRENCY, parseCurrency } from '../currency.js';
export { CONTENT_TYPE } from '../headers.js';
export * from './fields.js';
export * from './messages.js';
export * from './signing.js';
