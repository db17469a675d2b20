import { CODES } from '@perennial/wire';

/** A long text in pieces. Further pieces are created while the text is sent. */
export type TextPieces = Iterable<string> | AsyncIterable<string>;

interface AnswerOutcome {
  readonly code: string;
  readonly message: string;
  readonly replayed?: boolean;
}

/** An answer whose data is already rendered as JSON. */
export interface WrittenAnswer extends AnswerOutcome {
  readonly data: string | TextPieces;
}

/**
 * An answer whose data is rendered from a stored description, for the first answer and for each replay. The data itself
 * is not stored, because it may be long or contain a signature.
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
