import { CODES } from '@perennial/wire';

/** A long text in pieces, each made when the one before has gone out. */
export type Pieces = Iterable<string> | AsyncIterable<string>;

interface Outcome {
  readonly code: string;
  readonly message: string;
  readonly replayed?: boolean;
}

/** An answer whose data is there, as JSON. */
export interface WrittenAnswer extends Outcome {
  readonly data: string | Pieces;
}

/** An answer whose data is made from this, the first time and at each replay: it may be long, or hold a signature. */
export interface DescribedAnswer extends Outcome {
  readonly description: object;
  /** If it is made already. */
  readonly data?: string | Pieces;
}

/** What a request is answered with. */
export type Answer = WrittenAnswer | DescribedAnswer;

const { code, message } = CODES.SUCCESS;

export const success = (data: string | Pieces): WrittenAnswer => ({ code, message, data });
export const described = (description: object, data: string | Pieces): DescribedAnswer => ({
  code,
  message,
  description,
  data,
});
