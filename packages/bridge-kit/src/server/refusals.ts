import { currencyOf, type Fields } from '@perennial/wire/bridge';

/**
 * An error that is answered with an HTTP status other than 200. It says nothing about the outcome of a debit or refund.
 * Its message is for operators.
 */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = new.target.name;
    this.status = status;
  }
}

/** Thrown if the body violates the protocol. */
export class BadMessage extends Refusal {
  constructor(message: string) {
    super(400, message);
  }
}

/** Thrown if the number was already used with different terms. */
export class NumberConflict extends Refusal {
  constructor(message: string) {
    super(409, message);
  }
}

/** Throws unless the message has this currency: in a different currency the amount would mean something else. */
export function requireSameCurrency(fields: Fields, currency: string): void {
  const theirs = requireField(currencyOf(fields), 'currency');
  if (theirs !== currency) throw new Refusal(409, `the service uses ${theirs}, but this bridge uses ${currency}`);
}

/** Thrown if the request was not executed or its outcome is unknown. The service asks again. */
export class Unavailable extends Refusal {
  constructor(message: string) {
    super(503, message);
  }
}

export function requireField<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new BadMessage(`${name} is missing or not valid`);
  return value;
}
