export {
  type AgreementStatus,
  type CycleType,
  type DeliveryStatus,
  type Diagnosis,
  diagnoseRequest,
  type EncryptionVersion,
  type EndpointName,
  type EventType,
  formatTime,
  MISTAKES,
  type Mistake,
  type OrderStatus,
  type PaymentStatus,
  type PeriodType,
  parseTime,
  type RehearsedOutcome,
  type SettlementMode,
} from '@perennial/wire';
export type {
  AnswerOf,
  BodyOf,
  CreateCollected,
  CreateOnBinding,
  CreateOnSharedAgreement,
  EventRecord,
  OrderReference,
} from './bodies.js';
export {
  PerennialClient,
  type PerennialClientOptions,
  type RequestNotice,
  type ResponseNotice,
  type WholeAnswer,
} from './client.js';
export type { SignatureDiagnosis } from './diagnosis.js';
export { DecryptionError } from './encryption.js';
export {
  type ConnectionFailure,
  type ErrorName,
  isPerennialError,
  PerennialConnectionError,
  PerennialError,
} from './errors.js';
export type { Fetch } from './exchange.js';
export type { CallOptions, ListOptions, Methods } from './methods.js';
export { createExpressReceiver, type ExpressReceiver } from './receivers/express.js';
export { createFastifyReceiver, type FastifyReceiver, type FastifyReceiverOptions } from './receivers/fastify.js';
export { createFetchReceiver, type FetchReceiver } from './receivers/fetch.js';
export { createNodeReceiver, type NodeReceiver } from './receivers/node.js';
export type { ReceiverOptions } from './receivers/receive.js';
export { type WebhookFault, WebhookVerificationError } from './webhooks/errors.js';
export { type SignedWebhook, type SignWebhookOptions, signWebhookForTest } from './webhooks/sign-for-test.js';
export { createMemoryEventStore, type EventStore } from './webhooks/store.js';
export {
  type EncryptedWebhookEvent,
  type EventFor,
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookEvent,
  type WebhookHeaders,
  type WebhookKeys,
} from './webhooks/verify.js';
