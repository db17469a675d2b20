import { type AnySchema, Type } from '@perennial/wire';

/** The read-only form of an answer. */
export type Unchanging<T> = T extends readonly (infer One)[]
  ? readonly Unchanging<One>[]
  : T extends object
    ? { readonly [Field in keyof T]: Unchanging<T[Field]> }
    : T;

/** The input of a step. Enumerations become any text, because commands pass any text and the step checks it. */
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

/** A day or a moment in Asia/Shanghai: 2026-01-31 or 2026-01-31 12:00:00. From is inclusive, to exclusive. */
export const moment = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}( \\d{2}:\\d{2}:\\d{2})?$' });
/** The digits of an identifier in a query. */
export const digits = Type.String({ pattern: '^\\d{1,15}$' });
const IN_DIGITS = Symbol('in digits');
/** A number in a query, parsed from its digits. */
export const inDigits = (length: number) =>
  Type.Unsafe<number>({ type: 'string', pattern: `^\\d{1,${length}}$`, [IN_DIGITS]: true });
export const isInDigits = (schema: AnySchema): boolean => IN_DIGITS in schema;

/** Keyset pagination, never by offset. */
export const paging = {
  cursor: Type.Optional(text(500)),
  /** 1 to 200, 50 by default. */
  limit: Type.Optional(inDigits(3)),
};
export const nextCursor = textOrNull;

/**
 * The code of a text or a refusal, and its values, for pages in other languages. Null if the text is not the service's
 * own.
 */
export const said = Type.OrNull(Type.Object({ code: Type.String(), values: Type.Array(Type.String()) }));

/** False if there was nothing to change. */
export const changed = Type.Boolean();
/** A reason for the audit log. */
export const reason = text();
