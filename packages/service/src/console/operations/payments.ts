import {
  approve,
  decline,
  listApprovals,
  markSeen,
  showApproval,
  withdraw,
} from '../../operator/approvals/approvals.js';
import { cancelRun, listRunItems, listRuns, prepareRun, showRun, startRun } from '../../operator/bulk/bulk-runs.js';
import { listFailedPayments, summarizeFailedPayments } from '../../operator/payments/failed-payments.js';
import { type Operation, operation } from '../operation.js';
import { readPageQuery } from '../page-query.js';
import * as schemas from '../schemas/payments.js';

const approvalId = (path: Readonly<Record<string, string>>) => ({ approvalId: path['approvalId'] ?? '' });
const runId = (path: Readonly<Record<string, string>>) => ({ runId: path['runId'] ?? '' });

/** Payments that failed, what is done to many at once, and what waits for a second person. */
export const paymentOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/payments/failed',
    role: 'viewer',
    summary: 'Periods whose latest debit failed',
    query: schemas.failedQuery,
    answer: schemas.failedAnswer,
    run: ({ operator }, { query }) => listFailedPayments(operator, { ...query, ...readPageQuery(query) }),
  }),
  operation({
    method: 'GET',
    path: '/payments/failed/summary',
    role: 'viewer',
    summary: 'Failed payments by reason, institution and try, and what retries have recovered',
    query: schemas.failedSummaryQuery,
    answer: schemas.failedSummary,
    run: ({ operator }, { query }) => summarizeFailedPayments(operator, query),
  }),
  operation({
    method: 'POST',
    path: '/bulk',
    role: ['support', 'finance'],
    summary: 'A dry run: finds out what is meant, and does nothing about it',
    body: schemas.bulkRequest,
    answer: schemas.bulkRun,
    run: ({ operator, person }, { body }) => prepareRun(operator, body, person.role),
  }),
  operation({
    method: 'GET',
    path: '/bulk',
    role: 'viewer',
    summary: 'Bulk runs, the latest first',
    query: schemas.bulkQuery,
    answer: schemas.bulkRuns,
    run: ({ operator, person }, { query }) => listRuns(operator, readPageQuery(query), person.role),
  }),
  operation({
    method: 'GET',
    path: '/bulk/{runId}',
    role: 'viewer',
    summary: 'A bulk run and how far it has come',
    answer: schemas.bulkRun,
    run: ({ operator, person }, { path }) => showRun(operator, runId(path), person.role),
  }),
  operation({
    method: 'GET',
    path: '/bulk/{runId}/items',
    role: 'viewer',
    summary: 'What came of each item of a bulk run',
    query: schemas.bulkItemsQuery,
    answer: schemas.bulkItems,
    run: ({ operator }, { path, query }) =>
      listRunItems(operator, { ...query, ...readPageQuery(query), ...runId(path) }),
  }),
  operation({
    method: 'POST',
    path: '/bulk/{runId}/start',
    role: ['support', 'finance'],
    // It moves money, or ends what brings it in, many times over.
    needsProof: true,
    summary: 'Starts a bulk run, or asks a second person to',
    body: schemas.bulkStart,
    answer: schemas.bulkRun,
    run: ({ operator, person }, { path, body }) => startRun(operator, { ...runId(path), ...body }, person.role),
  }),
  operation({
    method: 'POST',
    path: '/bulk/{runId}/cancel',
    role: ['support', 'finance'],
    summary: 'Cancels a bulk run: what was done stays done',
    answer: schemas.bulkRun,
    run: ({ operator, person }, { path }) => cancelRun(operator, runId(path), person.role),
  }),
  operation({
    method: 'GET',
    path: '/approvals',
    role: 'viewer',
    summary: 'What waits for a second person, and what was decided',
    query: schemas.approvalsQuery,
    answer: schemas.approvals,
    run: ({ operator, person }, { query }) => listApprovals(operator, { ...query, ...readPageQuery(query) }, person),
  }),
  operation({
    method: 'GET',
    path: '/approvals/{approvalId}',
    role: 'viewer',
    summary: 'One of them',
    answer: schemas.approval,
    run: ({ operator, person }, { path }) => showApproval(operator, approvalId(path), person),
  }),
  operation({
    method: 'POST',
    path: '/approvals/{approvalId}/approve',
    role: 'finance',
    needsProof: true,
    summary: 'Approves what somebody else has asked for, and does it',
    body: schemas.decision,
    answer: schemas.approval,
    run: ({ operator, person }, { path, body }) => approve(operator, { ...approvalId(path), ...body }, person),
  }),
  operation({
    method: 'POST',
    path: '/approvals/{approvalId}/decline',
    role: 'finance',
    summary: 'Declines what somebody else has asked for',
    body: schemas.decision,
    answer: schemas.approval,
    run: ({ operator, person }, { path, body }) => decline(operator, { ...approvalId(path), ...body }, person),
  }),
  operation({
    method: 'POST',
    path: '/approvals/{approvalId}/withdraw',
    role: 'finance',
    summary: 'Takes back what one has asked for oneself, while nobody has decided',
    answer: schemas.approval,
    run: ({ operator, person }, { path }) => withdraw(operator, approvalId(path), person),
  }),
  operation({
    method: 'POST',
    path: '/approvals/{approvalId}/seen',
    role: 'finance',
    summary: 'Says that one knows that nothing came of what one has asked for',
    answer: schemas.approval,
    run: ({ operator, person }, { path }) => markSeen(operator, approvalId(path), person),
  }),
];
