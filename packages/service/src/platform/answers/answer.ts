import { CODES } from '@perennial/wire';

/** A long text in pieces, each made when the one before has gone out. */
export type TextPieces = Iterable<string> | AsyncIterable<string>;

interface AnswerOutcome {
  readonly code: string;
  readonly message: string;
  readonly replayed?: boolean;
}

/** An answer whose data is there, as JSON. */
export interface WrittenAnswer extends AnswerOutcome {
  readonly data: string | TextPieces;
}

/** An answer whose data is made from this, the first time and at each replay: it may be long, or hold a signature. */
export interface DescribedAnswer extends AnswerOutcome {
  readonly description: object;
  /** If it is made already. */
  readonly data?: string | TextPieces;
}

/** What a request is answered with. */
export type Answer = WrittenAnswer | DescribedAnswer;

const { code, message } = CODES.SUCCESS;

export const successAnswer = (data: string | TextPieces): WrittenAnswer => ({ code, message, data });
export const describedAnswer = (description: object, data: string | TextPieces): DescribedAnswer => ({
  code,
  message,
  description,
  data,
});
