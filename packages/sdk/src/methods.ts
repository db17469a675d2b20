import { type DataOf, ENDPOINTS, type EndpointName, endpoints } from '@perennial/wire';
import type { AnswerOf, BodyOf, ItemOf } from './bodies.js';

export interface CallOptions {
  /** For a write: the same key for the same call, also after a crash. Made by the client when it is not given. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** 1 to 1,024 visible ASCII characters; comes back with the answer. Made by the client when it is not given. */
  readonly requestId?: string | undefined;
}

export type Method<Name extends EndpointName> =
  Record<never, never> extends BodyOf<Name>
    ? (body?: BodyOf<Name>, options?: CallOptions) => Promise<AnswerOf<Name>>
    : (body: BodyOf<Name>, options?: CallOptions) => Promise<AnswerOf<Name>>;

/** What is asked is the same for all pages: where one begins is the iterator's matter. */
type ListBody<Name extends EndpointName> = Omit<BodyOf<Name>, 'page' | 'cursor'>;

export type ListMethod<Name extends EndpointName> =
  Record<never, never> extends ListBody<Name>
    ? (body?: ListBody<Name>, options?: ListOptions) => AsyncGenerator<ItemOf<AnswerOf<Name>>, void, undefined>
    : (body: ListBody<Name>, options?: ListOptions) => AsyncGenerator<ItemOf<AnswerOf<Name>>, void, undefined>;

export type ListOptions = Pick<CallOptions, 'signal'>;

/** Those that answer in pages. */
export type ListName = {
  [Name in EndpointName]: DataOf<Name> extends { nextCursor: unknown } ? Name : never;
}[EndpointName];

type Camel<Text extends string> = Text extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Text;

type KeyBelow<Name extends string, Prefix extends string> = Name extends `${Prefix}${infer Rest}`
  ? Rest extends `${infer Head}/${string}`
    ? Camel<Head>
    : Camel<Rest>
  : never;

type ValueBelow<Name extends EndpointName, Prefix extends string> = Name extends `${Prefix}${infer Rest}`
  ? Rest extends `${infer Head}/${string}`
    ? MethodsBelow<`${Prefix}${Head}/`>
    : Method<Name>
  : never;

type ListKeyBelow<Name extends string, Prefix extends string> = Name extends `${Prefix}${infer Rest}`
  ? Rest extends `${string}/${string}`
    ? never
    : `${Camel<Rest>}All`
  : never;

type MethodsBelow<Prefix extends string> = {
  readonly [Name in EndpointName as KeyBelow<Name, Prefix>]: ValueBelow<Name, Prefix>;
} & { readonly [Name in ListName as ListKeyBelow<Name, Prefix>]: ListMethod<Name> };

/** One method for each endpoint: `agreements/bind-sms` is `agreements.bindSms`; for each list an iterator, `orders.listAll`. */
export type Methods = MethodsBelow<''>;

type AnyCall = (name: EndpointName, body: unknown, options: CallOptions) => Promise<unknown>;

export function makeMethods(call: AnyCall): Methods {
  const methods: Record<string, unknown> = {};
  for (const { name, response } of endpoints) {
    const parts = name.split('/').map(camel);
    const last = parts.pop() ?? '';
    const folder = parts.reduce<Record<string, unknown>>((above, part) => {
      above[part] ??= {};
      return above[part] as Record<string, unknown>;
    }, methods);
    folder[last] = (body: unknown = {}, options?: CallOptions | null) =>
      call(name as EndpointName, body, options ?? {});
    const list = listFieldOf(response);
    if (list !== undefined) folder[`${last}All`] = iterator(call, name as EndpointName, list);
  }
  return methods as Methods;
}

interface Page {
  readonly [list: string]: unknown;
  readonly nextCursor: string | null;
}

function iterator(call: AnyCall, name: EndpointName, list: string) {
  return async function* (body: Record<string, unknown> = {}, { signal }: ListOptions = {}) {
    let cursor: string | null | undefined;
    do {
      const asked: Record<string, unknown> = cursor === undefined ? body : { ...body, cursor };
      const page = (await call(name, asked, { signal })) as Page;
      yield* readItems(page[list], name);
      if (page.nextCursor !== null && page.nextCursor === cursor) throw new TypeError(`${name} goes in a circle`);
      cursor = page.nextCursor;
    } while (typeof cursor === 'string');
  };
}

function readItems(items: unknown, name: string): readonly unknown[] {
  if (Array.isArray(items)) return items;
  throw new TypeError(`${name} was answered without a list`);
}

/** Of an answer in pages, the field with the records. */
function listFieldOf(schema: object): string | undefined {
  const { properties = {} } = schema as { properties?: Record<string, { type?: unknown }> };
  if (!('nextCursor' in properties)) return undefined;
  return Object.keys(properties).find((name) => properties[name]?.type === 'array');
}

const camel = (text: string): string => text.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

export const isEndpointName = (name: string): name is EndpointName => Object.hasOwn(ENDPOINTS, name);
