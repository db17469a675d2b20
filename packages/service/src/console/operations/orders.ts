import { requestRefund } from '../../operator/approvals/request-refund.js';
import { cancelAgreement } from '../../operator/orders/agreements.js';
import { addNote } from '../../operator/orders/notes.js';
import { retryPeriod, unsubscribeOrder } from '../../operator/orders/orders.js';
import { previewRefund, previewUnsubscribe } from '../../operator/orders/previews.js';
import { showTimeline } from '../../operator/orders/timeline.js';
import { unmaskUser } from '../../operator/orders/unmask.js';
import { requireInteger } from '../../operator/rules.js';
import { type Operation, operation } from '../operation.js';
import * as schemas from '../schemas/orders.js';

const part = (path: Readonly<Record<string, string>>, name: string): string => path[name] ?? '';
/** A number as it is written everywhere: an address that says the same in another way names nothing. */
const parsePeriod = (text: string): number =>
  requireInteger('the period', /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN, 1, 9999);
const period = (path: Readonly<Record<string, string>>) => ({
  orderNo: part(path, 'orderNo'),
  cycleNo: parsePeriod(part(path, 'cycleNo')),
});

/** What operators see of one order, and do to it. */
export const orderOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/orders/{orderNo}',
    role: 'viewer',
    summary: 'An order with its timeline, what comes next, and what may be done',
    answer: schemas.orderAnswer,
    run: async ({ operator, person }, { path }) => {
      const { order, ...shown } = await showTimeline(operator, { orderNo: part(path, 'orderNo'), role: person.role });
      return { ...shown, order: { ...order } };
    },
  }),
  operation({
    method: 'GET',
    path: '/orders/{orderNo}/unsubscribe/preview',
    role: 'viewer',
    summary: 'What unsubscribing an order would do',
    answer: schemas.preview,
    run: ({ operator }, { path }) => previewUnsubscribe(operator, { orderNo: part(path, 'orderNo') }),
  }),
  operation({
    method: 'POST',
    path: '/orders/{orderNo}/unsubscribe',
    role: 'support',
    summary: 'Unsubscribes an order',
    body: schemas.unsubscribeRequest,
    answer: schemas.unsubscribeAnswer,
    run: ({ operator }, { path, body }) => unsubscribeOrder(operator, { orderNo: part(path, 'orderNo'), ...body }),
  }),
  operation({
    method: 'POST',
    path: '/orders/{orderNo}/periods/{cycleNo}/retry',
    role: 'support',
    needsProof: true,
    summary: 'Debits a period that failed for now at once',
    answer: schemas.retryAnswer,
    run: ({ operator }, { path }) => retryPeriod(operator, period(path)),
  }),
  operation({
    method: 'GET',
    path: '/orders/{orderNo}/periods/{cycleNo}/refund/preview',
    role: 'viewer',
    summary: 'What a refund of a period would do',
    query: schemas.previewQuery,
    answer: schemas.preview,
    run: async ({ operator, refundApprovalCent }, { path, query: { amountCent, ...query } }) => {
      const asked = {
        ...period(path),
        ...query,
        ...(amountCent === undefined ? {} : { amountCent: Number(amountCent) }),
      };
      return previewRefund(operator, asked, refundApprovalCent);
    },
  }),
  operation({
    method: 'POST',
    path: '/orders/{orderNo}/periods/{cycleNo}/refund',
    role: 'finance',
    needsProof: true,
    summary: 'Refunds a period, or asks a second person to',
    body: schemas.refundRequest,
    answer: schemas.refundAnswer,
    run: ({ operator, refundApprovalCent }, { path, body }) =>
      requestRefund(operator, { ...period(path), ...body }, refundApprovalCent),
  }),
  operation({
    method: 'POST',
    path: '/orders/{orderNo}/notes',
    role: ['support', 'finance'],
    summary: 'Writes a note about an order',
    body: schemas.noteRequest,
    answer: schemas.note,
    run: ({ operator }, { path, body }) => addNote(operator, { orderNo: part(path, 'orderNo'), ...body }),
  }),
  operation({
    method: 'POST',
    path: '/orders/{orderNo}/unmask',
    role: 'support',
    summary: 'Shows the mobile of an order in clear, for a reason',
    body: schemas.unmaskRequest,
    answer: schemas.unmasked,
    run: ({ operator }, { path, body }) => unmaskUser(operator, { orderNo: part(path, 'orderNo'), ...body }),
  }),
  operation({
    method: 'POST',
    path: '/agreements/{agreementNo}/cancel',
    role: 'support',
    summary: 'Ends an agreement and every active order on it',
    body: schemas.cancelAgreementRequest,
    answer: schemas.agreementCanceled,
    run: async ({ operator }, { path, body }) => {
      const canceled = await cancelAgreement(operator, { agreementNo: part(path, 'agreementNo'), ...body });
      const { agreementNo, agreementStatus, unsubscribed, changed } = canceled;
      return { agreementNo, agreementStatus, unsubscribed, changed };
    },
  }),
];
