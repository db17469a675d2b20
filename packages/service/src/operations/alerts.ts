import { Type } from '@perennial/wire';
import {
  acknowledgeAlert,
  commentOnAlert,
  listAlerts,
  pageAlerts,
  setAlertOwner,
  showAlert,
} from '../operator/alerts.js';
import * as schemas from '../operator/schemas/alerts.js';
import { command, operation } from './operation.js';
import { alertTable } from './texts/alert-text.js';

/** The roles, besides admin, that may handle alerts. */
const WHO_ACTS = ['support', 'finance'] as const;

export const alertOperations = [
  operation({
    method: 'GET',
    path: '/alerts',
    summary: 'Open alerts, most severe first, or all alerts, latest first',
    query: schemas.alertsQuery,
    answer: schemas.alerts,
    run: pageAlerts,
    toAnswer: ({ rows: alerts, nextCursor, kinds }) => ({ alerts, nextCursor, kinds }),
  }),
  command({
    usage: 'alert list',
    summary: 'open alerts, most severe first',
    examples: ['list', 'list --all --json'],
    body: Type.Object({ all: Type.Optional(Type.Boolean()) }),
    fields: { all: ['--all', 'include acknowledged and resolved alerts'] },
    run: (operator, { all = false }) => listAlerts(operator, { all }),
    text: alertTable,
  }),
  operation({
    method: 'GET',
    path: '/alerts/one',
    summary: 'One alert with its comments and the messages about it',
    query: schemas.alertQuery,
    answer: schemas.alertAnswer,
    run: showAlert,
  }),
  operation({
    method: 'POST',
    path: '/alerts/acknowledge',
    role: WHO_ACTS,
    summary: 'Acknowledge an alert, until it is raised again',
    body: schemas.acknowledgeRequest,
    answer: schemas.alertChanged,
    run: acknowledgeAlert,
    toAnswer: ({ changed }) => ({ changed }),
    command: {
      usage: 'alert acknowledge <kind> <subject>',
      examples: ['acknowledge refund-refused R100000001000000101'],
      text: ({ kind, subject, changed, acknowledgedBy, acknowledgedAt }) =>
        changed
          ? `${kind} about ${subject} is acknowledged`
          : `It was already acknowledged by ${acknowledgedBy} at ${acknowledgedAt}.`,
    },
  }),
  operation({
    method: 'POST',
    path: '/alerts/owner',
    role: WHO_ACTS,
    summary: 'Assign an alert to an operator',
    body: schemas.ownerRequest,
    answer: schemas.alertChanged,
    run: setAlertOwner,
  }),
  operation({
    method: 'POST',
    path: '/alerts/comments',
    role: WHO_ACTS,
    summary: 'Comment on an alert',
    body: schemas.commentRequest,
    answer: schemas.alertChanged,
    run: commentOnAlert,
  }),
];
