import type { DataOf, EndpointName, RequestOf, WebhookEvent } from '@perennial/wire';
import type { Plain } from './fields.js';

// The published package has this module as interfaces with a comment for each field: scripts/bundle.mjs generates them
// from the reference (packages/developers/src/sdk-types.ts).

/** The requests of all endpoints, with plain field names. */
export type RequestShapes = { [Name in EndpointName]: Plain<RequestOf<Name>> };

/** The answers of all endpoints, with plain field names. */
export type AnswerShapes = { [Name in EndpointName]: Plain<DataOf<Name>> };

/** The events as sent. */
export type EncryptedEventShapes = WebhookEvent;

/** The events with plain field names. */
export type EventShapes = Plain<WebhookEvent>;

export type { OrderPayload, StoredPaymentPayload, StoredUpcomingPayload } from '@perennial/wire';
