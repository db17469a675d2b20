import { encodeQuery, MAX_STRING_LENGTH } from '@perennial/wire';
import { parseOrderNo } from '../subscriptions/domain/orders/order-numbers.js';

export interface SignedLink {
  readonly orderNo: number;
  readonly appId: string;
  readonly channelUserId: string;
  readonly exp: number;
  readonly sig: string;
}

export type FormFields = ReadonlyMap<string, string>;

/** A longer query cannot come from the service: the longest user id fits even if every byte is percent-encoded. */
const MAX_CHARACTERS = 15_000;

/**
 * Parses a query or a form. A duplicate or non-UTF-8 field becomes empty, and so invalid. A text that is too long has
 * no fields.
 */
export function readFormFields(text: string): FormFields {
  const fields = new Map<string, string>();
  for (const pair of text.length > MAX_CHARACTERS ? [] : text.split('&')) {
    const equals = pair.indexOf('=');
    const name = decodeField(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decodeField(pair.slice(equals + 1));
    fields.set(name, fields.has(name) ? '' : value);
  }
  return fields;
}

const decodeField = (text: string): string => decodePercent(text.includes('+') ? text.replaceAll('+', ' ') : text);

function decodePercent(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** Returns the link, or undefined if the fields cannot be a link. Does not check the signature. */
export function readLink(
  fields: FormFields,
  channelUserId = fields.get('channelUserId') ?? '',
): SignedLink | undefined {
  const of = (name: string) => fields.get(name) ?? '';
  const orderNo = parseOrderNo(of('orderNo'));
  const [appId, exp, sig] = [of('appId'), of('exp'), of('sig')];
  if (orderNo === undefined || !/^[\x21-\x7e]{1,64}$/.test(appId)) return undefined;
  if (channelUserId === '' || [...channelUserId].length > MAX_STRING_LENGTH || channelUserId.includes('\0')) {
    return undefined;
  }
  return /^[1-9]\d{0,11}$/.test(exp) ? { orderNo, appId, channelUserId, exp: Number(exp), sig } : undefined;
}

/** Returns the link's values by their names in queries and forms. */
function toLinkFields({ orderNo, appId, channelUserId, exp, sig }: SignedLink): Record<string, string> {
  return { orderNo: String(orderNo), appId, channelUserId, exp: String(exp), sig };
}

/** Returns form fields. Percent-encodes control characters and `%`, because browsers change line breaks in forms. */
export function toFormLinkFields(link: SignedLink): Record<string, string> {
  return toLinkFields({ ...link, channelUserId: link.channelUserId.replace(/[%\p{Cc}]/gu, encodeURIComponent) });
}

export function readFormLink(fields: FormFields): SignedLink | undefined {
  return readLink(fields, decodePercent(fields.get('channelUserId') ?? ''));
}

const queries = new WeakMap<SignedLink, string>();

/** Returns the query of a page's URL. The part that all pages share is cached, because a page has many URLs. */
export function toLinkQuery(link: SignedLink, more: Readonly<Record<string, string>> = {}): string {
  let query = queries.get(link);
  if (query === undefined) {
    query = toQuery(toLinkFields(link));
    queries.set(link, query);
  }
  const rest = toQuery(more);
  return rest === '' ? query : `${query}&${rest}`;
}

const toQuery = (fields: Readonly<Record<string, string>>): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}=${encodeQuery(value)}`)
    .join('&');
