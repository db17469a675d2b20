import { DEFAULT_PAGE, DEFAULT_PAGE_SIZE, MAX_PAGE, MAX_PAGE_SIZE, MAX_STRING_LENGTH } from '../limits.js';
import { Rejection } from '../rejection.js';
import { type AnySchema, type Static, Type } from './type.js';

/** Refuses NUL, which cannot be stored as text, and unpaired surrogates, which UTF-8 cannot express. */
export const STORABLE = '^[^\\u0000\\p{Cs}]*$';

/** Text in a request, also for identifiers: an identifier in a wrong format is just an unknown one ("not found"). */
export const Text = Type.String({ minLength: 1, maxLength: MAX_STRING_LENGTH, pattern: STORABLE });
export const MaybeEmptyText = Type.String({ maxLength: MAX_STRING_LENGTH, pattern: STORABLE });

/** Checks only the length, because unreadable ciphertext has its own result code. */
export const Encrypted = Type.String({ maxLength: MAX_STRING_LENGTH });

export const OutText = Type.String({ maxLength: MAX_STRING_LENGTH });
/** A 64-bit number in a response. It is a string, because JSON numbers lose precision beyond 53 bits. */
export const Identifier = Type.String({ pattern: '^[0-9]{1,19}$' });
export const Cents = Type.Integer();
export const Count = Type.Integer({ minimum: 0 });
export const CycleNo = Type.Integer({ minimum: 1 });
export const Time = Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$' });

/** Returns the schema of an enum. It states the type, because serialisers are slow for an enum without a type. */
export function Enum<const Values extends readonly string[]>(values: Values) {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values] });
}

/** Allows null. Returns one schema with two types, not a union, so that serialisers only have to test for null. */
export function Nullable<Schema extends AnySchema>(schema: Schema) {
  const { type, enum: values, ...rest } = schema as { type?: unknown; enum?: readonly unknown[] };
  const nullable = { ...rest, type: [type, 'null'] };
  return Type.Unsafe<Static<Schema> | null>(values === undefined ? nullable : { ...nullable, enum: [...values, null] });
}

export const pagingFields = {
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE, default: DEFAULT_PAGE })),
  size: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE })),
  cursor: Type.Optional(Text),
};

export const pageFields = {
  page: Nullable(Type.Integer({ minimum: 1 })),
  size: Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE }),
  hasMore: Type.Boolean(),
  nextCursor: Nullable(OutText),
};

export const PagingRequest = Type.Object(pagingFields);
export type PagingRequest = Static<typeof PagingRequest>;

export function pageOf(body: PagingRequest): { page: number | null; size: number } {
  return { page: body.cursor === undefined ? (body.page ?? DEFAULT_PAGE) : null, size: body.size ?? DEFAULT_PAGE_SIZE };
}

export function pagingChecks({ page, cursor }: PagingRequest): void {
  if (page !== undefined && cursor !== undefined) {
    throw new Rejection('PARAM_INVALID', 'page and cursor are mutually exclusive');
  }
}
