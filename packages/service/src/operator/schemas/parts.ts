import { type AnySchema, Type } from '@perennial/wire';

/** The type with all fields and lists read-only. */
export type Unchanging<T> = T extends readonly (infer One)[]
  ? readonly Unchanging<One>[]
  : T extends object
    ? { readonly [Field in keyof T]: Unchanging<T[Field]> }
    : T;

/** The type of a step's input. Enumerations become plain texts, because the step checks what a command passes. */
export type Asked<T> = T extends string
  ? string
  : T extends readonly (infer One)[]
    ? readonly Asked<One>[]
    : T extends object
      ? { readonly [Field in keyof T]: Asked<T[Field]> }
      : T;

/** Schemas shared by several operations. All times are yyyy-MM-dd HH:mm:ss in Asia/Shanghai, as in the API. */
export const text = (maxLength = 200) => Type.String({ minLength: 1, maxLength });
export const time = Type.String();
export const timeOrNull = Type.OrNull(Type.String());
export const textOrNull = Type.OrNull(Type.String());
export const integerOrNull = Type.OrNull(Type.Integer());
export const count = Type.Integer();
export const cents = Type.Integer();
export const oneOf = <T extends string>(...values: readonly T[]) => Type.Unsafe<T>({ type: 'string', enum: values });

/** A day or a time in Asia/Shanghai: 2026-01-31 or 2026-01-31 12:00:00. A range includes `from` and excludes `to`. */
export const moment = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}( \\d{2}:\\d{2}:\\d{2})?$' });
/** An identifier in a query, as a text of digits. */
export const digits = Type.String({ pattern: '^\\d{1,15}$' });
const IN_DIGITS = Symbol('in digits');
/** A number in a query. It is sent as digits and parsed to a number. */
export const inDigits = (length: number) =>
  Type.Unsafe<number>({ type: 'string', pattern: `^\\d{1,${length}}$`, [IN_DIGITS]: true });
export const isInDigits = (schema: AnySchema): boolean => IN_DIGITS in schema;

/** The query fields of keyset pagination. */
export const paging = {
  cursor: Type.Optional(text(500)),
  /** The number of rows on a page: 1 to 200, by default 50. */
  limit: Type.Optional(inDigits(3)),
};
export const nextCursor = textOrNull;

/**
 * The code and the values of a text, by which the console translates it. Null if the text was not written by the
 * service.
 */
export const said = Type.OrNull(Type.Object({ code: Type.String(), values: Type.Array(Type.String()) }));

/** False if the request changed nothing. */
export const changed = Type.Boolean();
/** A reason that is written to the audit log. */
export const reason = text();
