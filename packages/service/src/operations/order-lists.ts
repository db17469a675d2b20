import { exportOrders, listOrders, totalOrders } from '../operator/orders/list-orders.js';
import { showUser } from '../operator/orders/users/show-user.js';
import * as schemas from '../operator/schemas/orders.js';
import { createCsvAnswer, operation } from './operation.js';

export const orderListOperations = [
  operation({
    method: 'GET',
    path: '/orders',
    summary: 'Orders that match, the newest first, or the soonest when it is asked when they are due',
    query: schemas.ordersQuery,
    answer: schemas.ordersAnswer,
    run: (operator, input, { person }) => listOrders(operator, input, person.role),
  }),
  operation({
    method: 'GET',
    path: '/orders/totals',
    summary: 'How many orders match, and what was paid and refunded for them, counted up to 10,000',
    query: schemas.orderFilter,
    answer: schemas.ordersTotals,
    run: totalOrders,
  }),
  operation({
    method: 'GET',
    path: '/orders.csv',
    summary: 'All orders that match as CSV',
    query: schemas.orderFilter,
    answer: schemas.ordersCsv,
    run: async (operator, input, { person }) =>
      createCsvAnswer('orders.csv', await exportOrders(operator, input, person.role)),
  }),
  operation({
    method: 'GET',
    path: '/users',
    summary: 'Orders, agreements, refunds and claims of one user of a channel',
    query: schemas.userQuery,
    answer: schemas.userAnswer,
    run: (operator, input, { channels, person }) => showUser(operator, channels, input, person.role),
  }),
];
