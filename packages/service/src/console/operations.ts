import type { Operation } from './operation.js';
import { accountOperations } from './operations/account.js';
import { orderOperations } from './operations/orders.js';
import { paymentOperations } from './operations/payments.js';
import { peopleOperations } from './operations/people.js';

/** Everything that the console can do. Roles, routes, checks and the OpenAPI document all come out of this. */
export const OPERATIONS: readonly Operation[] = [
  ...accountOperations,
  ...peopleOperations,
  ...orderOperations,
  ...paymentOperations,
];
