import { CODES } from '@perennial/wire';

/** A long text in pieces. Each piece is created after the previous one was sent. */
export type TextPieces = Iterable<string> | AsyncIterable<string>;

interface AnswerOutcome {
  readonly code: string;
  readonly message: string;
  readonly replayed?: boolean;
}

/** An answer whose data is already JSON. */
export interface WrittenAnswer extends AnswerOutcome {
  readonly data: string | TextPieces;
}

/**
 * An answer whose data is created from a description, the first time and at each replay, because the data may be long
 * or contain a signature.
 */
export interface DescribedAnswer extends AnswerOutcome {
  readonly description: object;
  readonly data?: string | TextPieces;
}

export type Answer = WrittenAnswer | DescribedAnswer;

const { code, message } = CODES.SUCCESS;

export const successAnswer = (data: string | TextPieces): WrittenAnswer => ({ code, message, data });
export const describedAnswer = (description: object, data: string | TextPieces): DescribedAnswer => ({
  code,
  message,
  description,
  data,
});
