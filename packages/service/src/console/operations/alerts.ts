import { acknowledgeAlert, commentOnAlert, pageAlerts, setAlertOwner, showAlert } from '../../operator/alerts.js';
import { type Operation, operation } from '../operation.js';
import { readPageQuery } from '../page-query.js';
import * as schemas from '../schemas/alerts.js';

/** Whoever may act at all may look after an alert. */
const WHO_ACTS = ['support', 'finance'] as const;

export const alertsOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/alerts',
    role: 'viewer',
    summary: 'Alerts, the latest first',
    query: schemas.alertsQuery,
    answer: schemas.alerts,
    async run({ operator }, { query: { cursor: _1, limit: _2, ...filter }, query }) {
      const { rows, nextCursor, kinds } = await pageAlerts(operator, { ...filter, ...readPageQuery(query) });
      return { alerts: rows, nextCursor, kinds };
    },
  }),
  operation({
    method: 'GET',
    path: '/alerts/one',
    role: 'viewer',
    summary: 'One alert with its comments and the messages about it',
    query: schemas.alertQuery,
    answer: schemas.alertAnswer,
    run: ({ operator }, { query }) => showAlert(operator, query),
  }),
  operation({
    method: 'POST',
    path: '/alerts/acknowledge',
    role: WHO_ACTS,
    summary: 'Put an alert aside until it happens again',
    body: schemas.acknowledgeRequest,
    answer: schemas.alertChanged,
    run: async ({ operator }, { body }) => ({ changed: (await acknowledgeAlert(operator, body)).changed }),
  }),
  operation({
    method: 'POST',
    path: '/alerts/owner',
    role: WHO_ACTS,
    summary: 'Say who looks after an alert',
    body: schemas.ownerRequest,
    answer: schemas.alertChanged,
    run: ({ operator }, { body }) => setAlertOwner(operator, body),
  }),
  operation({
    method: 'POST',
    path: '/alerts/comments',
    role: WHO_ACTS,
    summary: 'Write something about an alert',
    body: schemas.commentRequest,
    answer: schemas.alertChanged,
    run: ({ operator }, { body }) => commentOnAlert(operator, body),
  }),
];
