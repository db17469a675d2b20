import { CODES, type CodeName, type ResultCode } from './codes.js';

export type RejectionName = Exclude<CodeName, 'SUCCESS'>;

/** Thrown by any layer where the reason is known, and turned into an envelope in one place. */
export class Rejection extends Error {
  override readonly name = 'Rejection';
  readonly result: ResultCode;
  readonly detail?: string;

  constructor(name: RejectionName, detail?: string) {
    const result = CODES[name];
    super(detail ?? result.message);
    this.result = result;
    if (detail !== undefined) this.detail = detail;
  }
}
