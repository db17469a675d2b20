import { accountOperations } from './account.js';
import { alertOperations } from './alerts.js';
import { auditOperations } from './audit.js';
import { benefitOperations } from './benefits.js';
import { channelOperations } from './channels.js';
import { eventOperations } from './events.js';
import type { Operation } from './operation.js';
import { orderListOperations } from './order-lists.js';
import { orderOperations } from './orders.js';
import { overviewOperations } from './overview.js';
import { paymentChannelOperations } from './payment-channels.js';
import { paymentOperations } from './payments.js';
import { peopleOperations } from './people.js';
import { productOperations } from './products.js';
import { reconciliationOperations } from './reconciliation.js';
import { settlementOperations } from './settlement.js';
import { userOperations } from './users.js';

const TABLE = [
  ...overviewOperations,
  ...orderListOperations,
  ...orderOperations,
  ...userOperations,
  ...paymentOperations,
  ...eventOperations,
  ...alertOperations,
  ...reconciliationOperations,
  ...settlementOperations,
  ...channelOperations,
  ...productOperations,
  ...paymentChannelOperations,
  ...benefitOperations,
  ...peopleOperations,
  ...auditOperations,
  ...accountOperations,
];

/** An operation of the console with its types, for the typed client. */
export type TableRow = Extract<(typeof TABLE)[number], { readonly method: string }>;

/** All operations of the console. Roles, routes, validation and the OpenAPI document derive from this list. */
export const OPERATIONS: readonly Operation[] = TABLE.filter((row): row is TableRow => 'method' in row);
