import { exportOrders, listOrders, totalOrders } from '../operator/orders/list-orders.js';
import { showUser } from '../operator/orders/users/show-user.js';
import { ROLES_FOR_USERS } from '../operator/people/roles.js';
import * as schemas from '../operator/schemas/orders.js';
import { createCsvAnswer, datedName, operation } from './operation.js';

export const orderListOperations = [
  operation({
    method: 'GET',
    path: '/orders',
    summary: 'Matching orders, newest first, or soonest first if filtered by due time',
    query: schemas.ordersQuery,
    answer: schemas.ordersAnswer,
    run: (operator, input, { person }) => listOrders(operator, input, person.role),
  }),
  operation({
    method: 'GET',
    path: '/orders/totals',
    summary: 'The number of matching orders, up to 10,000, with their payments and refunds',
    query: schemas.orderFilter,
    answer: schemas.ordersTotals,
    run: (operator, input, { person }) => totalOrders(operator, input, person.role),
  }),
  operation({
    method: 'GET',
    path: '/orders.csv',
    summary: 'All matching orders as CSV',
    query: schemas.orderFilter,
    answer: schemas.ordersCsv,
    run: async (operator, input, { person }) =>
      createCsvAnswer(datedName(operator, 'orders'), await exportOrders(operator, input, person.role)),
  }),
  operation({
    method: 'GET',
    path: '/users',
    role: ROLES_FOR_USERS,
    summary: 'Orders, agreements, refunds and claims of a channel’s user',
    query: schemas.userQuery,
    answer: schemas.userAnswer,
    run: (operator, input, { channels, person }) => showUser(operator, channels, input, person.role),
  }),
];
