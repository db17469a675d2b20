import type { Refusal } from '../platform/plain-error.js';
import { createWordings, type Said } from '../platform/wordings.js';

/** Texts for the results of bulk items and approvals. A refusal has its own text, from the step that refused. */
const SENTENCES = {
  'due-now': 'due now',
  'due-already': ['it was already due', 'it was due already'],
  'order-is': 'the order is {1}',
  'order-was': ['the order was already {1}', 'the order was {1} already'],
  'debit-succeeded': 'the debit succeeded',
  'debit-failed': 'the debit failed: {1}',
  'events-queued': 'events queued to be sent again: {1}',
  'event-accepted': 'the channel has accepted it',
  'event-given-up': [
    'the channel has not accepted it, and it is no longer sent',
    'the channel has not accepted it, and it is not sent any more',
  ],
  'event-no-callback': 'the channel has no callback address',
  // Stored by earlier releases.
  'sent-again': 'sent again',
  'events-sent-again': '{1} events sent again',
  'refund-is': 'refund {1} is {2}',
  'run-started': 'run {1} has started',
  'run-canceled': 'the run was canceled',
  'change-made': 'done',
  'change-approved': 'approved; {1} can carry it out within a day',
  fault: ['internal error: check the order and the log', 'a fault: look at the order, and at the log'],
} as const;

export type ResultCode = keyof typeof SENTENCES;
export const RESULT_CODES = Object.keys(SENTENCES) as readonly ResultCode[];

const { say, read } = createWordings(SENTENCES);
export const resultText = say;

/** A stored result. `refusal` is set if the action was refused. */
export interface KeptResult {
  readonly result: string | null;
  readonly refusal: Refusal | null;
}

/** Returns the code and the values of a result, so that it can be translated. Null if the text is unknown. */
export const readResult = ({ result, refusal }: KeptResult): Said | null =>
  refusal ?? (result === null ? null : read(result));
