import { showCells } from '../operator/cells/cells-overview.js';
import { showOverview } from '../operator/overview/overview.js';
import { countWaiting } from '../operator/overview/waiting-counts-sql.js';
import * as schemas from '../operator/schemas/overview.js';
import { search } from '../operator/search/search.js';
import { operation } from './operation.js';

export const overviewOperations = [
  operation({
    method: 'GET',
    path: '/overview',
    summary: 'Figures of a day, a month or a year, and the current state',
    query: schemas.overviewQuery,
    answer: schemas.overview,
    run: showOverview,
  }),
  operation({
    method: 'GET',
    path: '/cells',
    summary: 'Figures and open alerts of all cells, added up',
    query: schemas.cellsQuery,
    answer: schemas.cellsOverview,
    run: (operator, input, { cells }) => showCells(operator, input, cells),
  }),
  operation({
    method: 'GET',
    path: '/waiting',
    summary: 'Numbers of open tasks for the menu, up to 1,000 each',
    answer: schemas.waitingCounts,
    run: ({ database }, _input, { person }) => countWaiting(database, person.name, person.personId),
  }),
  operation({
    method: 'GET',
    path: '/search',
    summary:
      'Finds orders, payments, refunds, agreements, events, users, channels and products by whatever they are called',
    query: schemas.searchQuery,
    answer: schemas.searchAnswer,
    run: (operator, input, { person }) => search(operator, input, person.role),
  }),
];
