import { currencyOf, type Fields } from '@perennial/wire/bridge';

/** What is answered with another HTTP status than 200, and so says nothing about an outcome. Its message is for people. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = new.target.name;
    this.status = status;
  }
}

/** The body is not what the protocol says. */
export class BadMessage extends Refusal {
  constructor(message: string) {
    super(400, message);
  }
}

/** The number was used for something else before. */
export class NumberConflict extends Refusal {
  constructor(message: string) {
    super(409, message);
  }
}

/** Throws unless the message is in this currency. Nothing was done then: an amount would mean something else. */
export function requireSameCurrency(fields: Fields, currency: string): void {
  const theirs = requireField(currencyOf(fields), 'currency');
  if (theirs !== currency) throw new Refusal(409, `the service asks in ${theirs}, but this bridge has ${currency}`);
}

/** Nothing was done, or nobody knows: the service asks again. */
export class Unavailable extends Refusal {
  constructor(message: string) {
    super(503, message);
  }
}

export function requireField<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new BadMessage(`${name} is missing or not valid`);
  return value;
}
