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

const REMEMBER =
  'write the number down before you pass it on, under a unique key, and answer from there when it comes again';
const CHECK_FIRST = 'check the signature over the raw bytes before anything else, and answer 401';
const FORM_FIRST = 'check the form of every field before you do anything, and answer 400';

/** Every rule of docs/bridge.md that can be tested from outside, by its heading there. */
const SECTIONS = {
  'Rules for both sides': {
    'content-type': {
      says: 'an answer is application/json',
      advice: 'send the header Content-Type: application/json;charset=UTF-8 with every answer',
    },
    'answer-json': {
      says: 'an answer is one JSON object in UTF-8, not compressed',
      advice: 'see what stands between: an error page of a proxy or of a framework is no answer',
    },
    'answer-size': {
      says: 'an answer has at most 65,536 bytes, a page of a statement 1,048,576',
      advice: 'leave out what the page does not list, and make pages of a statement smaller',
    },
    'answer-times': {
      says: 'times are Unix milliseconds',
      advice: 'give milliseconds of UTC, not seconds and not the time of a zone, and hold the clock to the right time',
    },
    'request-unknown-fields': {
      says: 'unknown fields of a request are ignored',
      advice: 'ignore fields that you do not know: later services may send more',
      needs: 'agreement',
    },
    'request-not-json': {
      says: 'what is rightly signed and no JSON object in UTF-8 is a 400',
      advice: FORM_FIRST,
    },
    'request-in-pieces': {
      says: 'a body that comes in pieces is one body',
      advice: 'read the body to its end before you check the signature',
    },
    'request-cut-off': {
      says: 'a body that ends too early does nothing',
      advice: 'do nothing until the body is there as Content-Length says and its signature holds',
      needs: 'agreement',
    },
    'request-largest': {
      says: 'a request of 65,536 bytes is taken',
      advice: 'take bodies of 65,536 bytes, in every proxy before the bridge too',
    },
    'request-too-large': {
      says: 'a request of more than 65,536 bytes does nothing',
      advice: 'refuse larger bodies, with 413 for example',
      needs: 'agreement',
    },
    'request-amounts': {
      says: 'an amount that is no integer of at least 1 is a 400 and debits nothing',
      advice: FORM_FIRST,
      needs: 'agreement',
    },
    'request-longest': {
      says: 'a number of 64 visible ASCII characters is taken, and an externalOrderNo of 1024 characters',
      advice: 'keep a number of the institution’s own form beside the attemptNo if it takes no such numbers',
      needs: 'agreement',
    },
    'status-200': {
      says: 'a good request is answered with HTTP status 200, a decline too',
      advice: 'say what became of it in the body with status 200; find out why the bridge failed where it did',
    },
    deadline: {
      says: 'a debit is answered within 8 s, all else within 10 s',
      advice: 'answer PENDING before the time is over, and find out afterwards',
    },
  },
  Currency: {
    'currency-same': {
      says: 'the bridge has the currency of the service',
      advice: 'set both to one currency: amounts have no other sign of what they are in',
    },
    'currency-other': {
      says: 'a request in another currency is a 409 and does nothing',
      advice: 'compare the field currency of every request with your own before you do anything',
    },
  },
  Signatures: {
    'signature-taken': {
      says: 'a rightly signed request is taken',
      advice: 'sign the example of the page with its key; then compare the key, the path as it is sent, and the clocks',
    },
    'signature-missing': {
      says: 'a request without a signature is a 401, for each operation',
      advice: CHECK_FIRST,
    },
    'signature-wrong': {
      says: 'a signature under another key, or none at all that holds, is a 401 and does nothing',
      advice: CHECK_FIRST,
    },
    'signature-covers': {
      says: 'path, body, timestamp, nonce and request id are signed: one that was changed is a 401',
      advice: 'make the text of all seven lines, from what really came',
    },
    'signature-whole': {
      says: 'a signature that is cut off, longer or in other case is a 401',
      advice: 'compare whole signatures, byte by byte in constant time',
    },
    'signature-headers': {
      says: 'a timestamp, nonce or request id that is missing or malformed is a 401, whatever the signature',
      advice: 'check the form of the headers first',
    },
    'timestamp-old': {
      says: 'a timestamp more than 5 minutes old is a 401',
      advice: 'compare the timestamp with your clock, and refuse what is more than 5 minutes off',
    },
    'timestamp-future': {
      says: 'a timestamp more than 5 minutes ahead is a 401',
      advice: 'refuse what is more than 5 minutes off to either side',
    },
    'timestamp-within': {
      says: 'a timestamp 4 minutes off to either side is taken',
      advice: 'hold the clock to the right time, and refuse nothing that is less than 5 minutes off',
    },
    'answer-signed': {
      says: 'an answer is signed over the path and the nonce of its request and its own body; a 400 and a 409 too',
      advice: 'sign the bytes that you send, with the path and the nonce as they came, under the same key',
    },
    'refusal-unsigned': {
      says: 'the 401 of a signature that does not hold is not signed',
      advice: 'sign nothing for somebody who cannot sign',
    },
    replay: {
      says: 'a recorded debit that is sent again, byte for byte, changes nothing',
      advice: REMEMBER,
      needs: 'agreement',
    },
  },
  Operations: {
    'answer-number': {
      says: 'an answer about a debit repeats its attemptNo, one about a refund its refundNo',
      advice: 'put the number of the request into the answer as it came',
    },
    'answer-status': {
      says: 'the word in status is one that the operation lists, and a decline is of a listed kind',
      advice: 'use the words of the table and no others',
    },
    'answer-fields': {
      says: 'every field of an answer is there and well-formed, amounts are integers of at least 1',
      advice: 'compare the answer with docs/bridge.openapi.json',
    },
    'idempotency-key': {
      says: 'an Idempotency-Key that differs from the body is a 400 and does nothing',
      advice: 'compare the header with attemptNo or refundNo',
    },
    'without-app-id': {
      says: 'a request without appId is taken',
      advice: 'take requests of services from before that field',
    },
    'foreign-agreement': {
      says: 'a debit on an agreement of another channel is declined as FINAL',
      advice: 'remember which channel an agreement belongs to, and compare it with appId',
      needs: 'foreign',
    },
    'debit-asked': {
      says: 'what is debited is what was asked for',
      advice: 'pass amountCent on as it came: cents, not whole units',
      needs: 'agreement',
    },
    'debit-amount': {
      says: 'amountCent of a SUCCESS is what was really debited: answer, question and statement agree',
      advice: 'answer what the institution has booked, wherever it is asked from',
      needs: 'agreement',
    },
    'debit-repeated': {
      says: 'a debit that is repeated gets the answer as it stands, and is debited once',
      advice: REMEMBER,
      needs: 'agreement',
    },
    'debit-at-once': {
      says: 'a debit that comes five times at once is debited once',
      advice: 'let a unique key of the database decide who is first, and the others answer what that one has written',
      needs: 'agreement',
    },
    'debit-other-amount': {
      says: 'the same attemptNo with another amount is a 409 and changes nothing',
      advice: 'keep the amount beside the number, and compare',
      needs: 'agreement',
    },
    'debit-other-agreement': {
      says: 'the same attemptNo with another agreement is a 409 and changes nothing',
      advice: 'keep the agreement beside the number, and compare',
      needs: 'agreement',
    },
    'debit-hang-up': {
      says: 'a caller that hangs up can ask and send again, and is debited once',
      advice: 'go on with a debit whose caller has left, and answer from what was written when it comes again',
      needs: 'agreement',
    },
    'decline-retryable': {
      says: 'a debit that may be tried again later is declined as RETRYABLE',
      advice: 'see the table of the institution’s codes in the bridge',
      needs: 'retryable',
    },
    'decline-final': {
      says: 'a debit that cannot help to try again is declined as FINAL',
      advice: 'see the table of the institution’s codes in the bridge',
      needs: 'final',
    },
    'decline-agreement-invalid': {
      says: 'a debit on an agreement that has ended is declined as AGREEMENT_INVALID',
      advice: 'see the table of the institution’s codes in the bridge',
      needs: 'agreementInvalid',
    },
    pending: {
      says: 'a debit without a result is PENDING, and can be asked for until it has one',
      advice: 'answer /debit-query from what was written, and ask the institution for what is still open',
      needs: 'pending',
    },
    'bind-code': {
      says: 'a code is sent, and another one with the same bindOrderNo',
      advice: 'let /bind-code be repeated',
      needs: 'card',
    },
    'bind-wrong-code': {
      says: 'a wrong code is WRONG_CODE, and leaves the binding open',
      advice: 'keep REFUSED for a binding that has ended',
      needs: 'wrongSmsCode',
    },
    'bind-confirm': {
      says: 'the right code is BOUND with an institutionNo',
      advice: 'see why the institution does not bind this card with this code',
      needs: 'smsCode',
    },
    'bind-repeated': {
      says: 'a confirmation that is repeated is BOUND again, with the same institutionNo',
      advice: 'keep the institutionNo beside the bindOrderNo',
      needs: 'smsCode',
    },
    'refund-asked': {
      says: 'what is refunded is what was asked for',
      advice: 'pass amountCent on as it came: cents, not whole units',
      needs: 'agreement',
    },
    'refund-amount': {
      says: 'amountCent of a refund is what was really refunded: answer, question and statement agree',
      advice: 'answer what the institution has booked, wherever it is asked from',
      needs: 'agreement',
    },
    'refund-repeated': {
      says: 'a refund that is repeated gets the answer as it stands, and is refunded once',
      advice: REMEMBER,
      needs: 'agreement',
    },
    'refund-other-amount': {
      says: 'the same refundNo with another amount is a 409 and changes nothing',
      advice: 'keep debit and amount beside the number, and compare',
      needs: 'agreement',
    },
    'refund-too-much': {
      says: 'a refund of more than was debited is REFUSED',
      advice: 'compare with what was debited, before the institution is asked',
      needs: 'agreement',
    },
    'refund-in-sum': {
      says: 'refunds that come to more than was debited in sum are REFUSED',
      advice: 'add up what was refunded and what is pending before you refund more',
      needs: 'agreement',
    },
    'refund-at-once': {
      says: 'of two refunds at once that are too much in sum, one is REFUSED',
      advice: 'lock the debit while you add up its refunds',
      needs: 'agreement',
    },
    'refund-unknown-debit': {
      says: 'a refund of an attemptNo that was never debited is REFUSED',
      advice: 'answer REFUSED with status 200 where there is nothing to refund',
    },
    'refund-query-known': {
      says: 'a refund that was made can be asked for',
      advice: 'answer /refund-query from what was written',
      needs: 'agreement',
    },
    'refund-query-unknown': {
      says: 'a refundNo that was never sent is NOT_FOUND',
      advice: 'answer NOT_FOUND with status 200',
    },
    cancel: {
      says: 'an agreement can be canceled, and canceled again',
      advice: 'answer CANCELED when it has ended already, however that was',
      needs: 'cancelable',
    },
    'cancel-debit': {
      says: 'a debit on a canceled agreement is declined as AGREEMENT_INVALID',
      advice: 'look whether the agreement is in force before every debit',
      needs: 'cancelable',
    },
    'statement-pages': {
      says: 'the cursors of a statement lead to a last page; a page has at most 1000 lines, and none is empty before the last',
      advice: 'make the cursor the place behind the last line, and null when nothing follows',
    },
    'statement-lines': {
      says: 'every line of a statement is well-formed',
      advice: 'compare the page with docs/bridge.openapi.json: one bad line makes the whole statement unusable',
    },
    'statement-day': {
      says: 'a statement repeats the day it was asked for, and its lines were booked on that day of Asia/Shanghai',
      advice: 'cut the day at midnight of Asia/Shanghai, 16:00 UTC',
    },
    'statement-once': {
      says: 'every line is in the statement once',
      advice: 'order the lines by something that does not change, and begin each page behind the one before',
    },
    'statement-complete': {
      says: 'everything that was debited and refunded in this run is in the statement, and nothing that was not',
      advice: 'make the statement of what the institution has booked, debits and refunds',
      needs: 'agreement',
    },
  },
  'What the service makes of an answer': {
    answered: {
      says: 'a connection is not broken without an answer',
      advice: 'find out what ends the connection: a crash, or a proxy’s own time limit',
    },
    'debit-query-unknown': {
      says: 'an attemptNo that was never sent is NOT_FOUND, and can be debited afterwards',
      advice: 'answer NOT_FOUND with status 200, and remember nothing for a question',
    },
  },
  Notices: {
    'notice-sent': {
      says: 'the result of a pending debit comes by notice, the same that the question tells',
      advice: 'send a notice when the result is there, and see that the notice address is this one',
      needs: 'notices',
    },
    'notice-signed': {
      says: 'a notice is signed, with its noticeNo as request id, and its fields are those of the table',
      advice: 'sign notices as the service signs its requests, with the path of the notice address',
      needs: 'notices',
    },
    'notice-again': {
      says: 'a notice that was answered with 500 is sent again, signed anew',
      advice: 'keep a notice until it is answered with 200, and sign it each time you send it',
      needs: 'notices',
    },
  },
  'What a bridge must do': {
    restart: {
      says: 'a restart forgets no number',
      advice: 'keep numbers and results on disk, before they are passed on and before they are answered',
      needs: 'restart',
    },
    'result-stays': {
      says: 'what was declined is not debited, and a result does not change',
      advice: 'answer PENDING when you do not know: never DECLINED because something timed out',
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
