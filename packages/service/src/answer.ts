import { CODES } from '@perennial/wire';

/** A long text in pieces, each made when the one before has gone out. */
export type Pieces = Iterable<string> | AsyncIterable<string>;

/** What a request is answered with. */
export interface Answer {
  readonly code: string;
  readonly message: string;
  /** JSON. */
  readonly data: string | Pieces;
  /** What a replay makes the data of. It is stored in place of the data, which may be long and hold a signature. */
  readonly description?: object;
  readonly replayed?: boolean;
}

const { code, message } = CODES.SUCCESS;

export const success = (data: string | Pieces): Answer => ({ code, message, data });
