import { PlainError } from '../plain-error.js';

/** The statement cannot be used, and nothing of it is: the message says where and why. */
export class StatementRefused extends PlainError {}

export function refuseLine(line: number, why: string): StatementRefused {
  return new StatementRefused(`line ${line} of the statement: ${why}`);
}
