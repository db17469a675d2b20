import type { AnySchema } from '@perennial/wire';

const SUFFIX = 'Encrypted';

type PlainName<Name> = Name extends `${infer Bare}Encrypted` ? Bare : Name;

/** The same with plain texts: every field that ends in Encrypted has the name without it. */
export type Plain<Value> = Value extends readonly (infer Item)[]
  ? Plain<Item>[]
  : Value extends object
    ? { [Name in keyof Value as PlainName<Name>]: Plain<Value[Name]> }
    : Value;

export type Fields = Record<string, unknown>;

interface SomeSchema {
  readonly properties?: Readonly<Record<string, AnySchema>>;
  readonly items?: AnySchema;
}

/** `place` is where the field stands in the body, such as `sharedAgreement.bankMobileEncrypted`. */
export type Encrypt = (text: string, place: string) => string;
export type Decrypt = (value: string, field: string) => string;

/**
 * The body as it is sent. Its fields come in the order of the schema, so that the same content is the same bytes: under one
 * Idempotency-Key another order of fields would be another request.
 */
export function encryptFields(schema: AnySchema, body: Fields, encrypt: Encrypt, place = ''): Fields {
  const properties = (schema as SomeSchema).properties ?? {};
  const sealed: Fields = {};
  const taken = new Set<string>();
  for (const [name, property] of Object.entries(properties)) {
    const plain = plainName(name);
    taken.add(name).add(plain);
    if (plain === name) sealed[name] = encryptWithin(property, body[name], encrypt, place + name);
    else sealed[name] = body[plain] === undefined ? body[name] : encryptText(body[plain], place + name, encrypt);
  }
  for (const [name, value] of Object.entries(body)) if (!taken.has(name)) sealed[name] = value;
  return sealed;
}

function encryptText(text: unknown, place: string, encrypt: Encrypt): unknown {
  if (typeof text === 'string') return encrypt(text, place);
  // Absent, as an event says it.
  if (text === null) return null;
  throw new TypeError(`${plainName(place)} must be a string`);
}

function encryptWithin(schema: AnySchema, value: unknown, encrypt: Encrypt, place: string): unknown {
  const { properties, items } = schema as SomeSchema;
  if (Array.isArray(value) && items !== undefined) {
    return value.map((item, index) => encryptWithin(items, item, encrypt, `${place}.${index}`));
  }
  if (properties === undefined || !isObject(value)) return value;
  return encryptFields(schema, value, encrypt, `${place}.`);
}

/** Whatever is encrypted anywhere in it, under its plain name. */
export function decryptFields(value: unknown, decrypt: Decrypt): unknown {
  if (Array.isArray(value)) return value.map((item) => decryptFields(item, decrypt));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const plain = plainName(name);
      if (plain === name) return [name, decryptFields(inner, decrypt)];
      return [plain, typeof inner === 'string' ? decrypt(inner, name) : inner];
    }),
  );
}

/** Most answers have none, and a page of them may be long: then it need not be gone through. */
export const mayHoldEncrypted = (json: string): boolean => json.includes(`${SUFFIX}"`);

const plainName = (name: string): string => (name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : name);

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
