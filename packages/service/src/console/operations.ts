import type { Operation } from './operation.js';
import { accountOperations } from './operations/account.js';
import { alertsOperations } from './operations/alerts.js';
import { booksOperations } from './operations/books.js';
import { eventsOperations } from './operations/events.js';
import { peopleOperations } from './operations/people.js';
import { setupOperations } from './operations/setup.js';

/** Everything that the console can do. Roles, routes, checks and the OpenAPI document all come out of this. */
export const OPERATIONS: readonly Operation[] = [
  ...accountOperations,
  ...peopleOperations,
  ...eventsOperations,
  ...alertsOperations,
  ...booksOperations,
  ...setupOperations,
];
