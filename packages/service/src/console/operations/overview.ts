import { showOverview } from '../../operator/overview/overview.js';
import { countWaiting } from '../../operator/overview/waiting-counts-sql.js';
import { search } from '../../operator/search/search.js';
import { type Operation, operation } from '../operation.js';
import * as schemas from '../schemas/overview.js';

export const overviewOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/overview',
    role: 'viewer',
    summary: 'What happened in a day, a month or a year, and how things stand now',
    query: schemas.overviewQuery,
    answer: schemas.overview,
    run: async ({ operator }, { query }) => {
      const overview = await showOverview(operator, query);
      return {
        ...overview,
        series: [...overview.series],
        channels: [...overview.channels],
        alerts: [...overview.alerts],
      };
    },
  }),
  operation({
    method: 'GET',
    path: '/waiting',
    role: 'viewer',
    summary: 'How much waits for somebody, for the menu: up to 1,000 of each',
    answer: schemas.waitingCounts,
    run: ({ operator, person }) => countWaiting(operator.database, person.name),
  }),
  operation({
    method: 'GET',
    path: '/search',
    role: 'viewer',
    summary:
      'Finds orders, payments, refunds, agreements, events, users, channels and products by whatever they are called',
    query: schemas.searchQuery,
    answer: schemas.searchAnswer,
    run: ({ operator, person }, { query }) => search(operator, query, person.role),
  }),
];
