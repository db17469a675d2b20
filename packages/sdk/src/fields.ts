import { type AnySchema, endpoints } from '@perennial/wire';

const SUFFIX = 'Encrypted';

type PlainName<Name> = Name extends `${infer Bare}Encrypted` ? Bare : Name;

/** The type with plain-text fields: field names that end in Encrypted lose this suffix. */
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

/** Encrypts a text. `place` is the field's path in the body, such as `sharedAgreement.bankMobileEncrypted`. */
export type Encrypt = (text: string, place: string) => string;
export type Decrypt = (value: string, field: string) => string;

/**
 * Returns the body to send. Its known fields are in the schema's sequence, so that equal content gives equal bytes.
 * With a different sequence, the service would see a different request under the same idempotency key.
 */
export function encryptFields(schema: AnySchema, body: Fields, encrypt: Encrypt, place = ''): Fields {
  const properties = (schema as SomeSchema).properties ?? {};
  // Has no prototype, so that __proto__ is an ordinary field name.
  const sealed: Fields = Object.create(null);
  const taken = new Set<string>();
  for (const [name, property] of Object.entries(properties)) {
    const plain = plainName(name);
    taken.add(name).add(plain);
    if (plain === name) sealed[name] = encryptWithin(property, body[name], encrypt, place + name);
    else sealed[name] = body[plain] === undefined ? body[name] : encryptText(body[plain], place + name, encrypt);
  }
  for (const [name, value] of Object.entries(body)) {
    if (taken.has(name)) continue;
    if (ENCRYPTED_ANYWHERE.has(name))
      throw new TypeError(`${place}${name} has no place here, and would not be encrypted`);
    sealed[name] = value;
  }
  return sealed;
}

/**
 * The plain names of all fields that some endpoint encrypts. If an endpoint does not have such a field, the field is
 * refused, so that it is never sent unencrypted.
 */
const ENCRYPTED_ANYWHERE: ReadonlySet<string> = new Set(endpoints.flatMap(({ request }) => listEncrypted(request)));

function listEncrypted(schema: AnySchema): string[] {
  return Object.entries((schema as SomeSchema).properties ?? {}).flatMap(([name, property]) =>
    plainName(name) === name ? listEncrypted(property) : [plainName(name)],
  );
}

function encryptText(text: unknown, place: string, encrypt: Encrypt): unknown {
  if (typeof text === 'string') return encrypt(requireWhole(text, place), place);
  // null is allowed, because events use it for an absent text.
  if (text === null) return null;
  throw new TypeError(`${plainName(place)} must be a string`);
}

/** Throws if the text has an unpaired surrogate: it has no UTF-8 form, so a different text would be encrypted. */
function requireWhole(text: string, place: string): string {
  if (/\p{Surrogate}/u.test(text)) throw new TypeError(`${plainName(place)} contains an unpaired surrogate`);
  return text;
}

function encryptWithin(schema: AnySchema, value: unknown, encrypt: Encrypt, place: string): unknown {
  const { properties, items } = schema as SomeSchema;
  if (Array.isArray(value) && items !== undefined) {
    return value.map((item, index) => encryptWithin(items, item, encrypt, `${place}.${index}`));
  }
  if (properties === undefined || !isObject(value)) return value;
  return encryptFields(schema, value, encrypt, `${place}.`);
}

/** Decrypts every encrypted field at any depth, and removes the suffix from its name. */
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

/** Returns false if the JSON certainly has no encrypted field. Most responses have none and need no traversal. */
export const mayHoldEncrypted = (json: string): boolean => json.includes(`${SUFFIX}"`);

export function plainName(name: string): string {
  return /.Encrypted$/.test(name) ? name.slice(0, -SUFFIX.length) : name;
}

/** Replaces the service's field names in a text by the caller's names. */
export const usePlainNames = (text: string): string => text.replace(/\b[a-z]\w*Encrypted\b/g, plainName);

export const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
