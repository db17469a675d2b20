import { Type } from '@perennial/wire';
import { refundAlone, requestRefund } from '../operator/approvals/request-refund.js';
import { OperatorError, refusal } from '../operator/operator.js';
import { advanceOrderOfAnyChannel } from '../operator/orders/advance-order.js';
import { cancelAgreement, showAgreement } from '../operator/orders/agreements.js';
import { replaceCode, revealCode } from '../operator/orders/codes.js';
import { dismissMention, listMentions } from '../operator/orders/mentions.js';
import { addNote } from '../operator/orders/notes.js';
import { retryPeriod, unsubscribeOrder } from '../operator/orders/orders.js';
import { previewRefund, previewUnsubscribe } from '../operator/orders/previews.js';
import { showReceipt } from '../operator/orders/receipt.js';
import { checkRedemptionLink, createRedemptionLink } from '../operator/orders/redemption-links.js';
import type { RefundLimits } from '../operator/orders/refunds/second-person.js';
import { type OrderView, showOrder } from '../operator/orders/show-order.js';
import { showTimeline } from '../operator/orders/timeline/timeline.js';
import { unmaskUser } from '../operator/orders/users/unmask.js';
import { NotAllowedError } from '../operator/people/not-allowed.js';
import { mayDo } from '../operator/people/roles.js';
import { requireInteger } from '../operator/rules.js';
import * as schemas from '../operator/schemas/orders.js';
import { RECEIPT_STYLE_SOURCE } from '../redeem/page/receipt.js';
import { parseWholeNumber } from './command/parse.js';
import { safeText } from './command/safe-text.js';
import { type CommandField, type Context, command, FileAnswer, operation } from './operation.js';
import { advanceText, orderReport, refundText } from './texts/order-text.js';

const CYCLE_NO: CommandField = ['<cycle-no>', 'number of the period, from 1', parseWholeNumber];

/** Refuses a period's number that is spelled like `01`, so that each period has one URL. */
const withPeriod = <Input extends { readonly cycleNo: string | number }>(input: Input) => ({
  ...input,
  cycleNo: requireInteger(
    'the period',
    /^[1-9]\d*$/.test(`${input.cycleNo}`) ? Number(input.cycleNo) : Number.NaN,
    1,
    9999,
  ),
});

/** The limits of refunds. Support may only request refunds; finance decides. */
const limitsFor = ({ refundApprovalCent, refundDailyCent, person }: Context): RefundLimits => ({
  refundApprovalCent,
  refundDailyCent,
  mayOnlyAsk: !mayDo(person.role, 'finance'),
});

/** Operations on a single order. */
export const orderOperations = [
  operation({
    method: 'GET',
    path: '/orders/{orderNo}',
    summary: 'An order with its timeline, next step and allowed actions',
    answer: Type.Object({
      /**
       * The same fields as `perennial order show` prints, with at most 200 periods, and user ids masked for
       * viewers.
       */
      order: Type.Unsafe<OrderView>({ type: 'object' }),
      ...schemas.orderAnswer,
    }),
    run: (operator, { orderNo }, { person }) => showTimeline(operator, { orderNo, role: person.role }),
  }),
  command({
    usage: 'order show [order-no]',
    summary: 'all data of an order, except secrets',
    examples: ['show 100000001000', 'show --external ORDER-0001 --json'],
    body: Type.Object({ orderNo: Type.Optional(Type.String()), externalOrderNo: Type.Optional(Type.String()) }),
    fields: { externalOrderNo: ['--external <no>', "find it by the channel's own number"] },
    run: async (operator, { orderNo, externalOrderNo }) => {
      if (orderNo !== undefined && externalOrderNo === undefined) return showOrder(operator, { orderNo });
      if (orderNo === undefined && externalOrderNo) return showOrder(operator, { externalOrderNo });
      throw new OperatorError('give either an order number or --external');
    },
    text: orderReport,
  }),
  operation({
    method: 'GET',
    path: '/orders/{orderNo}/unsubscribe/preview',
    summary: 'Preview the effects of an unsubscribe',
    answer: schemas.preview,
    run: previewUnsubscribe,
  }),
  operation({
    method: 'POST',
    path: '/orders/{orderNo}/unsubscribe',
    role: 'support',
    summary: 'Unsubscribe an order',
    body: schemas.reasonRequest,
    answer: schemas.unsubscribeAnswer,
    run: unsubscribeOrder,
    command: {
      usage: 'order unsubscribe <order-no>',
      summary: 'end an active order and send its events',
      examples: ['unsubscribe 100000001000 --reason "asked for by phone"'],
      fields: { reason: ['--reason <text>', 'reason, stored with the order'] },
      defaults: { reason: undefined },
      needsEngine: true,
      text: ({ orderNo, orderStatus, changed }) => `order ${orderNo} ${changed ? 'is' : 'was already'} ${orderStatus}`,
    },
  }),
  operation({
    method: 'POST',
    path: '/orders/{orderNo}/periods/{cycleNo}/retry',
    role: 'support',
    needsProof: true,
    summary: 'Retry a failed period now',
    answer: schemas.retryAnswer,
    run: (operator, input) => retryPeriod(operator, withPeriod(input)),
    command: {
      usage: 'order retry <order-no> <cycle-no>',
      summary: 'retry a failed period now',
      examples: ['retry 100000001000 3'],
      fields: { cycleNo: CYCLE_NO },
      needsEngine: true,
      text: ({ orderNo, cycleNo, changed }) =>
        `period ${cycleNo} of order ${orderNo} ${changed ? 'is due now' : 'was already due'}: a running service debits ` +
        'it as soon as its payment channel may be used',
    },
  }),
  operation({
    method: 'GET',
    path: '/orders/{orderNo}/periods/{cycleNo}/receipt',
    summary: 'The receipt of a paid period, a page to print',
    query: schemas.receiptQuery,
    answer: schemas.receipt,
    run: async (operator, input) => {
      const { cycleNo, orderNo, lang } = withPeriod(input);
      const page = await showReceipt(operator, { orderNo, cycleNo, lang });
      return new FileAnswer(`receipt-${orderNo}-${cycleNo}.html`, 'text/html; charset=utf-8', [page], {
        'content-disposition': 'inline',
        'content-security-policy': `default-src 'none'; style-src ${RECEIPT_STYLE_SOURCE}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      });
    },
  }),
  operation({
    method: 'GET',
    path: '/orders/{orderNo}/periods/{cycleNo}/refund/preview',
    summary: 'Preview the effects of a refund',
    query: schemas.previewQuery,
    answer: schemas.preview,
    run: (operator, input, context) => previewRefund(operator, withPeriod(input), limitsFor(context)),
  }),
  operation({
    method: 'POST',
    path: '/orders/{orderNo}/periods/{cycleNo}/refund',
    role: ['support', 'finance'],
    needsProof: true,
    summary: 'Refund a period, or request its approval; requests of support always wait. Can unsubscribe the order too',
    body: schemas.refundRequest,
    answer: schemas.refundAnswer,
    run(operator, input, context) {
      if (input.unsubscribe && !mayDo(context.person.role, 'support')) {
        throw refusal('unsubscribe-by-support', NotAllowedError)`only support can unsubscribe an order`;
      }
      return requestRefund(operator, withPeriod(input), limitsFor(context));
    },
  }),
  command({
    usage: 'order refund <order-no> <cycle-no>',
    summary: 'refund a period, in full or in part; mode SVC_DEDUCT only',
    examples: [
      'refund 100000001000 1',
      'refund 100000001000 1 --amount-cent 490 --key ticket-4711 --note "late delivery"',
      'refund 100000001000 1 --amount-cent 490 --note "goodwill" --keep-benefits',
      'refund 100000001000 1 --outside --note "bank transfer 4711"',
      'refund 100000001000 1 --without-approval "finance is away, ticket 4711"',
    ],
    body: Type.Object({
      amountCent: Type.Optional(Type.Integer()),
      key: Type.Optional(Type.String()),
      note: Type.Optional(Type.String()),
      keepBenefits: Type.Optional(Type.Boolean()),
      outside: Type.Optional(Type.Boolean()),
      unsubscribe: Type.Optional(Type.Boolean()),
      withoutApproval: Type.Optional(Type.String()),
    }),
    fields: {
      cycleNo: CYCLE_NO,
      amountCent: ['--amount-cent <n>', 'amount in cents (default: the whole rest)'],
      key: ['--key <text>', 'idempotency key: the same key is the same refund'],
      note: ['--note <text>', 'reason'],
      keepBenefits: ['--keep-benefits', 'revoke no benefits; only for a partial refund'],
      outside: [
        '--outside',
        'record a refund that was made outside the service, for example by bank transfer; nothing is sent, no benefits are revoked',
      ],
      unsubscribe: ['--unsubscribe', 'unsubscribe the order in the same transaction'],
      withoutApproval: [
        '--without-approval <text>',
        'reason to skip the approval above CONSOLE_REFUND_APPROVAL_CENT, for the audit log',
      ],
    },
    needsEngine: true,
    run: (operator, { cycleNo, ...input }, context) =>
      refundAlone(operator, { ...input, cycleNo: Number(cycleNo) }, context),
    text: refundText,
  }),
  command({
    usage: 'order advance <order-no>',
    summary: 'run the next periods now, as if their time had come; sandbox only',
    examples: [
      'advance 100000001000 --cycles 11',
      'advance 100000001000 --cycles 2 --outcome FAIL_RETRY,SUCCESS',
      'advance 100000001000 --to "2027-12-31 23:59:59"',
    ],
    body: Type.Object({
      cycles: Type.Optional(Type.Integer()),
      to: Type.Optional(Type.String()),
      outcomes: Type.Optional(Type.Array(Type.String())),
    }),
    fields: {
      cycles: ['--cycles <n>', 'number of periods'],
      to: ['--to <time>', 'or all periods due up to this time'],
      outcomes: [
        '--outcome <outcome>',
        'SUCCESS, FAIL_RETRY, RETRY_MISSED, FAIL, PENDING or AGREEMENT_INVALID, one for each period in turn',
      ],
    },
    needsEngine: true,
    run: advanceOrderOfAnyChannel,
    text: advanceText,
  }),
  operation({
    method: 'POST',
    path: '/orders/{orderNo}/notes',
    role: ['support', 'finance'],
    summary: 'Add a note to an order',
    body: schemas.noteRequest,
    answer: schemas.note,
    run: addNote,
  }),
  operation({
    method: 'GET',
    path: '/mentions',
    summary: 'Notes that mention you or your role, until you dismiss them',
    query: schemas.mentionsQuery,
    answer: schemas.mentions,
    run: (operator, input, { person }) => listMentions(operator, input, person),
  }),
  operation({
    method: 'POST',
    path: '/mentions/{noteId}/seen',
    role: 'viewer',
    summary: 'Dismiss a note that mentions you',
    answer: schemas.mentionDismissed,
    run: (operator, input, { person }) => dismissMention(operator, input, person),
  }),
  operation({
    method: 'POST',
    path: '/orders/{orderNo}/unmask',
    role: 'support',
    needsProof: true,
    summary: 'Reveal the mobile number of an order, for a reason',
    body: schemas.reasonRequest,
    answer: schemas.unmasked,
    run: unmaskUser,
  }),
  operation({
    method: 'POST',
    path: '/orders/{orderNo}/claims/{claimNo}/reveal',
    role: 'support',
    needsProof: true,
    summary: 'Reveal the code of a claimed benefit, for a reason',
    body: schemas.reasonRequest,
    answer: schemas.revealedCode,
    run: revealCode,
  }),
  operation({
    method: 'POST',
    path: '/orders/{orderNo}/claims/{claimNo}/replace',
    role: 'support',
    needsProof: true,
    summary: 'Replace the code of a claimed benefit by another code from the same source',
    body: schemas.codeReplaceRequest,
    answer: schemas.codeReplaced,
    run: replaceCode,
  }),
  operation({
    method: 'POST',
    path: '/orders/{orderNo}/redemption-link',
    role: 'support',
    needsProof: true,
    summary: 'Create a redemption link for the user of an order',
    answer: schemas.redemptionLink,
    run: createRedemptionLink,
  }),
  operation({
    method: 'POST',
    path: '/redemption-links/check',
    role: 'support',
    summary: 'Check whether a redemption link is from this installation, and whether it opens',
    body: schemas.linkCheckRequest,
    answer: schemas.linkCheck,
    run: checkRedemptionLink,
  }),
  command({
    usage: 'agreement show <agreement-no>',
    summary: 'an agreement with its number at the institution',
    examples: ['show AG200000000001 --reason "cancel it at the institution, ticket 4711"'],
    body: Type.Object({ reason: Type.String() }),
    fields: { reason: ['--reason <text>', 'reason, for the audit log'] },
    run: showAgreement,
    text: ({ agreementNo, agreementStatus, paymentChannelCode, institutionNo, appId, channelUserId }) =>
      safeText`${agreementNo} is ${agreementStatus}
number at ${paymentChannelCode}: ${institutionNo ?? 'erased'}
user ${channelUserId} of ${appId}`,
  }),
  operation({
    method: 'POST',
    path: '/agreements/{agreementNo}/cancel',
    role: 'support',
    summary: 'Cancel an agreement and every active order on it',
    body: schemas.reasonRequest,
    answer: schemas.agreementCanceled,
    run: cancelAgreement,
    toAnswer: ({ agreementNo, agreementStatus, unsubscribed, changed }) => ({
      agreementNo,
      agreementStatus,
      unsubscribed,
      changed,
    }),
    command: {
      usage: 'agreement cancel <agreement-no>',
      summary: 'cancel an agreement and every active order on it',
      examples: ['cancel AG200000000001 --reason "asked for by the user"'],
      fields: { reason: ['--reason <text>', 'reason, stored with each order'] },
      defaults: { reason: undefined },
      needsEngine: true,
      text({ agreementNo, changed, unsubscribed }) {
        if (!changed) return `${agreementNo} was canceled already`;
        const orders =
          unsubscribed.length === 0 ? 'it had no active order' : `unsubscribed: ${unsubscribed.join(', ')}`;
        return safeText`${agreementNo} is canceled; its institution is notified in the background\n${orders}`;
      },
    },
  }),
];
