import { CODES, type CodeName, type ResultCode } from './codes.js';

export type RejectionName = Exclude<CodeName, 'SUCCESS'>;

/** A refusal with a result code. Any layer can throw it, and one place turns it into an envelope. */
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
