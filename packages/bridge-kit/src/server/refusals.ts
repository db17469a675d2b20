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
