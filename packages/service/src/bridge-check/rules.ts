import type { Given } from './given.js';

interface NeedText {
  readonly option: string;
  readonly isGiven: (given: Given) => boolean;
}

/** Options that a rule requires. */
export const NEEDS = {
  agreement: { option: '--agreement', isGiven: ({ agreement }) => agreement !== undefined },
  retryable: { option: '--declines RETRYABLE=…', isGiven: ({ declines }) => declines.RETRYABLE !== undefined },
  final: { option: '--declines FINAL=…', isGiven: ({ declines }) => declines.FINAL !== undefined },
  agreementInvalid: {
    option: '--declines AGREEMENT_INVALID=…',
    isGiven: ({ declines }) => declines.AGREEMENT_INVALID !== undefined,
  },
  pending: { option: '--pending', isGiven: ({ pending }) => pending !== undefined },
  foreign: { option: '--foreign', isGiven: ({ foreign }) => foreign !== undefined },
  cancelable: {
    option: '--cancel-agreement, or --card-file and --sms-code',
    isGiven: ({ cancelAgreement, card, smsCode }) =>
      cancelAgreement !== undefined || (card !== undefined && smsCode !== undefined),
  },
  card: { option: '--card-file', isGiven: ({ card }) => card !== undefined },
  smsCode: {
    option: '--card-file and --sms-code',
    isGiven: ({ card, smsCode }) => card !== undefined && smsCode !== undefined,
  },
  wrongSmsCode: {
    option: '--card-file and --wrong-sms-code',
    isGiven: ({ card, wrongSmsCode }) => card !== undefined && wrongSmsCode !== undefined,
  },
  notices: {
    option: '--pending and --listen',
    isGiven: ({ pending, listen }) => pending !== undefined && listen !== undefined,
  },
  restart: {
    option: '--restart',
    isGiven: ({ restart, agreement }) => restart !== undefined && agreement !== undefined,
  },
} as const satisfies Record<string, NeedText>;
type Need = keyof typeof NEEDS;

interface RuleText {
  /** The requirement. */
  readonly says: string;
  /** The fix if the requirement is not met. */
  readonly advice: string;
  readonly needs?: Need;
}

const REMEMBER = 'store the number under a unique key before you pass it on, and answer repetitions from there';
const CHECK_FIRST = 'check the signature over the raw bytes before anything else, and answer 401';
const FORM_FIRST = 'validate every field before you do anything, and answer 400';

/** The rules of docs/bridge.md that the check tests, under the headings of that page. */
const SECTIONS = {
  'Rules for both sides': {
    'content-type': {
      says: 'an answer is application/json',
      advice: 'send the header Content-Type: application/json;charset=UTF-8 with every answer',
    },
    'answer-json': {
      says: 'an answer is one JSON object in UTF-8, not compressed',
      advice: 'check proxies and frameworks in between: their error pages are no answers',
    },
    'answer-size': {
      says: 'an answer has at most 65,536 bytes, a page of a statement 1,048,576',
      advice: 'omit fields that the protocol does not list, and use smaller statement pages',
    },
    'answer-times': {
      says: 'times are Unix milliseconds',
      advice: 'send UTC milliseconds, not seconds or local time, and synchronize the clock',
    },
    'request-unknown-fields': {
      says: 'unknown fields of a request are ignored',
      advice: 'ignore unknown fields: later services may send more',
      needs: 'agreement',
    },
    'request-not-json': {
      says: 'a signed body that is not a JSON object in UTF-8 is a 400',
      advice: FORM_FIRST,
    },
    'request-in-pieces': {
      says: 'a body may arrive in several pieces',
      advice: 'read the body to its end before you check the signature',
    },
    'request-cut-off': {
      says: 'a truncated body has no effect',
      advice: 'do nothing before the body is complete by Content-Length and its signature is valid',
      needs: 'agreement',
    },
    'request-largest': {
      says: 'a request of 65,536 bytes is accepted',
      advice: 'accept bodies of 65,536 bytes, also in every proxy in front of the bridge',
    },
    'request-too-large': {
      says: 'a request of more than 65,536 bytes has no effect',
      advice: 'refuse larger bodies, with 413 for example',
      needs: 'agreement',
    },
    'request-amounts': {
      says: 'an amount that is not an integer of at least 1 is a 400 and debits nothing',
      advice: FORM_FIRST,
      needs: 'agreement',
    },
    'request-longest': {
      says: 'a number of 64 visible ASCII characters and an externalOrderNo of 1024 characters are accepted',
      advice: 'store a number in the institution’s format with the attemptNo if it does not accept such numbers',
      needs: 'agreement',
    },
    'status-200': {
      says: 'a valid request is answered with HTTP status 200, also for a decline',
      advice: 'put the outcome into the body with status 200; find out why the bridge failed',
    },
    deadline: {
      says: 'a debit is answered within 8 s, other requests within 10 s',
      advice: 'answer PENDING before the deadline, and query the institution afterwards',
    },
  },
  Currency: {
    'currency-same': {
      says: 'the bridge has the currency of the service',
      advice: 'set both to the same currency: amounts do not carry one',
    },
    'currency-other': {
      says: 'a request in another currency is a 409 and has no effect',
      advice: 'compare the field currency of every request with your own before you do anything',
    },
  },
  Signatures: {
    'signature-taken': {
      says: 'a correctly signed request is accepted',
      advice: 'sign the example in docs/bridge.md with its key; then compare the key, the path as sent, and the clocks',
    },
    'signature-missing': {
      says: 'a request without a signature is a 401, for every operation',
      advice: CHECK_FIRST,
    },
    'signature-wrong': {
      says: 'a signature with another key, or an invalid one, is a 401 and has no effect',
      advice: CHECK_FIRST,
    },
    'signature-covers': {
      says: 'path, body, timestamp, nonce and request id are signed: changing one is a 401',
      advice: 'build the signed text from all seven lines, as received',
    },
    'signature-whole': {
      says: 'a signature that is truncated, extended or in another case is a 401',
      advice: 'compare complete signatures in constant time',
    },
    'signature-headers': {
      says: 'a missing or malformed timestamp, nonce or request id is a 401, whatever the signature',
      advice: 'check the form of the headers first',
    },
    'timestamp-old': {
      says: 'a timestamp more than 5 minutes old is a 401',
      advice: 'refuse timestamps that differ from your clock by more than 5 minutes',
    },
    'timestamp-future': {
      says: 'a timestamp more than 5 minutes ahead is a 401',
      advice: 'refuse timestamps more than 5 minutes off in either direction',
    },
    'timestamp-within': {
      says: 'a timestamp 4 minutes off in either direction is accepted',
      advice: 'synchronize the clock, and accept timestamps less than 5 minutes off',
    },
    'answer-signed': {
      says: 'an answer, also a 400 or 409, is signed over the path and nonce of its request and its own body',
      advice: 'sign the bytes that you send, with the path and nonce of the request, with the same key',
    },
    'refusal-unsigned': {
      says: 'the 401 of an invalid signature is not signed',
      advice: 'do not sign answers to callers whose signature is invalid',
    },
    replay: {
      says: 'a debit that is replayed byte for byte changes nothing',
      advice: REMEMBER,
      needs: 'agreement',
    },
  },
  Operations: {
    'answer-number': {
      says: 'an answer about a debit repeats its attemptNo, one about a refund its refundNo',
      advice: 'copy the number of the request into the answer',
    },
    'answer-status': {
      says: 'the status is one listed for the operation, and a decline is of a listed kind',
      advice: 'use only the statuses of the table',
    },
    'answer-fields': {
      says: 'every field of an answer is present and well-formed, and amounts are integers of at least 1',
      advice: 'compare the answer with docs/bridge.openapi.json',
    },
    'idempotency-key': {
      says: 'an Idempotency-Key that differs from the body is a 400 and has no effect',
      advice: 'compare the header with attemptNo or refundNo',
    },
    'without-app-id': {
      says: 'a request without appId is accepted',
      advice: 'accept requests of older services, which do not send that field',
    },
    'foreign-agreement': {
      says: 'a debit on an agreement of another channel is declined as FINAL',
      advice: 'store the channel of each agreement, and compare it with appId',
      needs: 'foreign',
    },
    'debit-asked': {
      says: 'the debited amount is the requested amount',
      advice: 'pass amountCent on unchanged: it is in cents, not whole units',
      needs: 'agreement',
    },
    'debit-amount': {
      says: 'amountCent of a SUCCESS is the amount really debited: answer, query and statement agree',
      advice: 'answer the amount that the institution has booked, in every operation',
      needs: 'agreement',
    },
    'debit-repeated': {
      says: 'a repeated debit is answered with its current outcome, and debited once',
      advice: REMEMBER,
      needs: 'agreement',
    },
    'debit-at-once': {
      says: 'five concurrent copies of a debit are debited once',
      advice: 'let a unique key of the database decide the first, and answer the others from its row',
      needs: 'agreement',
    },
    'debit-other-amount': {
      says: 'the same attemptNo with another amount is a 409 and changes nothing',
      advice: 'store the amount with the number, and compare',
      needs: 'agreement',
    },
    'debit-other-agreement': {
      says: 'the same attemptNo with another agreement is a 409 and changes nothing',
      advice: 'store the agreement with the number, and compare',
      needs: 'agreement',
    },
    'debit-hang-up': {
      says: 'after the caller hangs up, a query and a retry work, and the debit is made once',
      advice: 'finish a debit whose caller has left, and answer the retry from the stored outcome',
      needs: 'agreement',
    },
    'decline-retryable': {
      says: 'a debit that may be retried later is declined as RETRYABLE',
      advice: 'see the table of the institution’s codes in the bridge',
      needs: 'retryable',
    },
    'decline-final': {
      says: 'a debit that must not be retried is declined as FINAL',
      advice: 'see the table of the institution’s codes in the bridge',
      needs: 'final',
    },
    'decline-agreement-invalid': {
      says: 'a debit on an agreement that has ended is declined as AGREEMENT_INVALID',
      advice: 'see the table of the institution’s codes in the bridge',
      needs: 'agreementInvalid',
    },
    pending: {
      says: 'a debit without a result is PENDING, and can be queried until it has one',
      advice: 'answer /debit-query from the stored outcome, and query the institution for open ones',
      needs: 'pending',
    },
    'bind-code': {
      says: 'a code is sent, and sent again for the same bindOrderNo',
      advice: 'allow /bind-code to be repeated',
      needs: 'card',
    },
    'bind-wrong-code': {
      says: 'a wrong code is answered WRONG_CODE, and leaves the binding open',
      advice: 'use REFUSED only for a binding that has ended',
      needs: 'wrongSmsCode',
    },
    'bind-confirm': {
      says: 'the right code is answered BOUND with an institutionNo',
      advice: 'find out why the institution does not bind this card with this code',
      needs: 'smsCode',
    },
    'bind-repeated': {
      says: 'a repeated confirmation is answered BOUND again, with the same institutionNo',
      advice: 'store the institutionNo with the bindOrderNo',
      needs: 'smsCode',
    },
    'refund-asked': {
      says: 'the refunded amount is the requested amount',
      advice: 'pass amountCent on unchanged: it is in cents, not whole units',
      needs: 'agreement',
    },
    'refund-amount': {
      says: 'amountCent of a refund is the amount really refunded: answer, query and statement agree',
      advice: 'answer the amount that the institution has booked, in every operation',
      needs: 'agreement',
    },
    'refund-repeated': {
      says: 'a repeated refund is answered with its current outcome, and refunded once',
      advice: REMEMBER,
      needs: 'agreement',
    },
    'refund-other-amount': {
      says: 'the same refundNo with another amount is a 409 and changes nothing',
      advice: 'store debit and amount with the number, and compare',
      needs: 'agreement',
    },
    'refund-too-much': {
      says: 'a refund of more than was debited is REFUSED',
      advice: 'compare with the debited amount before you call the institution',
      needs: 'agreement',
    },
    'refund-in-sum': {
      says: 'refunds whose sum exceeds the debit are REFUSED',
      advice: 'add up completed and pending refunds before you refund more',
      needs: 'agreement',
    },
    'refund-at-once': {
      says: 'of two concurrent refunds whose sum is too much, one is REFUSED',
      advice: 'lock the row of the debit while you add up its refunds',
      needs: 'agreement',
    },
    'refund-unknown-debit': {
      says: 'a refund of an attemptNo that was never debited is REFUSED',
      advice: 'answer REFUSED with status 200 if there is nothing to refund',
    },
    'refund-query-known': {
      says: 'a refund can be queried',
      advice: 'answer /refund-query from the stored outcome',
      needs: 'agreement',
    },
    'refund-query-unknown': {
      says: 'a refundNo that was never sent is NOT_FOUND',
      advice: 'answer NOT_FOUND with status 200',
    },
    cancel: {
      says: 'an agreement can be canceled, and canceled again',
      advice: 'answer CANCELED if it has already ended, for whatever reason',
      needs: 'cancelable',
    },
    'cancel-debit': {
      says: 'a debit on a canceled agreement is declined as AGREEMENT_INVALID',
      advice: 'check that the agreement is in force before every debit',
      needs: 'cancelable',
    },
    'statement-pages': {
      says: 'the cursors of a statement end at a last page; a page has at most 1000 lines, and only the last may be empty',
      advice: 'let the cursor point behind the last line, and send null on the last page',
    },
    'statement-lines': {
      says: 'every line of a statement is well-formed',
      advice: 'compare the page with docs/bridge.openapi.json: one bad line makes the whole statement unusable',
    },
    'statement-day': {
      says: 'a statement repeats the requested day, and its lines were booked on that day in Asia/Shanghai',
      advice: 'end the day at midnight in Asia/Shanghai, 16:00 UTC',
    },
    'statement-once': {
      says: 'every line is in the statement once',
      advice: 'sort the lines by a stable key, and begin each page after the last line of the previous one',
    },
    'statement-complete': {
      says: 'the statement has exactly the debits and refunds of this run',
      advice: 'build the statement from all debits and refunds that the institution has booked',
      needs: 'agreement',
    },
  },
  'What the service makes of an answer': {
    answered: {
      says: 'a connection is not closed without an answer',
      advice: 'find out what closes the connection: a crash, or a proxy’s timeout',
    },
    'debit-query-unknown': {
      says: 'an attemptNo that was never sent is NOT_FOUND, and can be debited afterwards',
      advice: 'answer NOT_FOUND with status 200, and store nothing for a query',
    },
  },
  Notices: {
    'notice-sent': {
      says: 'the result of a pending debit is sent as a notice, equal to the result of a query',
      advice: 'send a notice when the result is known, and check that the notice address is this one',
      needs: 'notices',
    },
    'notice-signed': {
      says: 'a notice is signed, with its noticeNo as request id, and its fields are those of the table',
      advice: 'sign notices as the service signs its requests, with the path of the notice address',
      needs: 'notices',
    },
    'notice-again': {
      says: 'a notice that was answered with 500 is sent again, with a new signature',
      advice: 'retry a notice until it is answered with 200, and sign every attempt',
      needs: 'notices',
    },
  },
  'What a bridge must do': {
    restart: {
      says: 'a restart forgets no number',
      advice: 'store numbers before you pass them on, and results before you answer',
      needs: 'restart',
    },
    'result-stays': {
      says: 'a declined debit is not made later, and a result does not change',
      advice: 'answer PENDING if you do not know the result: never DECLINED after a timeout',
      needs: 'agreement',
    },
    'debit-query-known': {
      says: 'a number that was passed on is never NOT_FOUND',
      advice: 'answer /debit-query from what was written before the number was passed on',
      needs: 'agreement',
    },
  },
} as const satisfies Record<string, Record<string, RuleText>>;

type Sections = typeof SECTIONS;
export type RuleName = { [Heading in keyof Sections]: keyof Sections[Heading] }[keyof Sections];

export interface Rule extends RuleText {
  readonly name: RuleName;
  readonly heading: string;
}

export const RULES: readonly Rule[] = Object.entries(SECTIONS).flatMap(([heading, rules]) =>
  Object.entries<RuleText>(rules).map(([name, rule]) => ({ name: name as RuleName, heading, ...rule })),
);
