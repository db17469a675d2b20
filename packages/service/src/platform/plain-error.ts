/** A refusal in a form that can be translated: its code (in operator/refusal-codes.ts), and the values in its text. */
export interface Refusal {
  readonly code: string;
  readonly values: readonly string[];
}

export interface PlainErrorOptions extends ErrorOptions {
  readonly refusal?: Refusal;
}

/** An error whose message is one line for operators, shown without a stack. */
export class PlainError extends Error {
  readonly refusal: Refusal | undefined;
  constructor(message: string, { refusal, ...options }: PlainErrorOptions = {}) {
    super(message, options);
    this.name = new.target.name;
    this.refusal = refusal;
  }
}

type Kind<E> = new (message: string, options: PlainErrorOptions) => E;

/** Creates a refusal: ``createRefusal(OperatorError, 'product-exists')`there is already a product ${code}` ``. */
export const createRefusal =
  <E extends PlainError>(kind: Kind<E>, code: string, options: ErrorOptions = {}) =>
  (pieces: TemplateStringsArray, ...given: readonly (string | number | null)[]): E => {
    const values = given.map((value) => String(value ?? ''));
    return new kind(String.raw({ raw: pieces }, ...values), { ...options, refusal: { code, values } });
  };
