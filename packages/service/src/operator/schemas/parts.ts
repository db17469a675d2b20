import { type AnySchema, Type } from '@perennial/wire';

/** What a step answers is not changed any more. */
export type Unchanging<T> = T extends readonly (infer One)[]
  ? readonly Unchanging<One>[]
  : T extends object
    ? { readonly [Field in keyof T]: Unchanging<T[Field]> }
    : T;

/** What a step is asked. Where a schema has one of a few texts it may be any text: commands take any, and the step checks it. */
export type Asked<T> = T extends string
  ? string
  : T extends readonly (infer One)[]
    ? readonly Asked<One>[]
    : T extends object
      ? { readonly [Field in keyof T]: Asked<T[Field]> }
      : T;

/** Pieces that several operations have in common. All times are yyyy-MM-dd HH:mm:ss of Asia/Shanghai, as in the interface. */
export const text = (maxLength = 200) => Type.String({ minLength: 1, maxLength });
export const time = Type.String();
export const timeOrNull = Type.OrNull(Type.String());
export const textOrNull = Type.OrNull(Type.String());
export const integerOrNull = Type.OrNull(Type.Integer());
export const count = Type.Integer();
export const cents = Type.Integer();
export const oneOf = <T extends string>(...values: readonly T[]) => Type.Unsafe<T>({ type: 'string', enum: values });

/** A day or a moment of Asia/Shanghai: 2026-01-31 or 2026-01-31 12:00:00. From is inclusive, to exclusive. */
export const moment = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}( \\d{2}:\\d{2}:\\d{2})?$' });
/** Of a query: the digits of a number that is a name. */
export const digits = Type.String({ pattern: '^\\d{1,15}$' });
const IN_DIGITS = Symbol('in digits');
/** Of a query, where everything is text: a number, which is read from its digits. */
export const inDigits = (length: number) =>
  Type.Unsafe<number>({ type: 'string', pattern: `^\\d{1,${length}}$`, [IN_DIGITS]: true });
export const isInDigits = (schema: AnySchema): boolean => IN_DIGITS in schema;

/** How lists page: by the key of the last row, never by a number of rows. */
export const paging = {
  cursor: Type.Optional(text(500)),
  /** 1 to 200, 50 unless given. */
  limit: Type.Optional(inDigits(3)),
};
export const nextCursor = textOrNull;

/**
 * What a text says, for pages in other languages: the code of the sentence, or of a refusal, and what fills its blanks. Null when
 * the text is in the words of somebody else.
 */
export const said = Type.OrNull(Type.Object({ code: Type.String(), values: Type.Array(Type.String()) }));

/** Whether anything was changed; false: it was as asked already. */
export const changed = Type.Boolean();
/** A word of why, for the audit log. */
export const reason = text();
