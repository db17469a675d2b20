import type { Operation } from './operation.js';
import { accountOperations } from './operations/account.js';
import { alertsOperations } from './operations/alerts.js';
import { booksOperations } from './operations/books.js';
import { eventsOperations } from './operations/events.js';
import { orderListOperations } from './operations/order-lists.js';
import { orderOperations } from './operations/orders.js';
import { overviewOperations } from './operations/overview.js';
import { paymentOperations } from './operations/payments.js';
import { peopleOperations } from './operations/people.js';
import { setupOperations } from './operations/setup.js';

/** Everything that the console can do. Roles, routes, checks and the OpenAPI document all come out of this. */
export const OPERATIONS: readonly Operation[] = [
  ...overviewOperations,
  ...orderListOperations,
  ...orderOperations,
  ...paymentOperations,
  ...eventsOperations,
  ...alertsOperations,
  ...booksOperations,
  ...setupOperations,
  ...peopleOperations,
  ...accountOperations,
];
