import { isDeepStrictEqual } from 'node:util';
import type { Environment } from '../../platform/settings.js';
import { refusal } from '../operator.js';
import { quoted } from '../rules.js';
import { requireSellerUrl } from './addresses/seller-url.js';

/** Returns the six hexadecimal digits of `#rgb` or `#rrggbb`. The # is optional: in shells it starts a comment. */
export function requireAccent(text: string): string {
  const [, digits = ''] = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(text.trim()) ?? [];
  if (digits === '') throw refusal('accent-malformed')`a colour must look like #0a6b4b, not ${quoted(text)}`;
  return (digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits).toLowerCase();
}

const MAX_SUPPORT = 120;
const PHONE = /^\+?[0-9][0-9 -]*[0-9]$/;
const EMAIL = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i;

/** Accepts a phone number, an e-mail address or an https URL. */
export function requireSupport(text: string, environment: Environment): string {
  const typed = text.trim();
  if (/^https?:/i.test(typed)) return requireSellerUrl('the support address', typed, environment, MAX_SUPPORT);
  if (typed.length <= MAX_SUPPORT && (isPhone(typed) || EMAIL.test(typed))) return typed;
  throw refusal(
    'support-malformed',
  )`the support contact must be a phone number, an e-mail address or an https address of at most ${MAX_SUPPORT} characters, not ${quoted(typed)}`;
}

const isPhone = (text: string): boolean => PHONE.test(text) && text.replaceAll(/\D/g, '').length >= 3;

type Texts<Name extends string> = Readonly<Partial<Record<Name, string | null>>>;

/** Checks each given text with its reader. Keeps null, which removes a text. */
export function readTexts<Name extends string>(
  readers: Readonly<Record<Name, (text: string) => string>>,
  given: Texts<Name>,
): Texts<Name> {
  const names = (Object.keys(readers) as Name[]).filter((name) => given[name] !== undefined);
  const read = names.map((name) => [name, typeof given[name] === 'string' ? readers[name](given[name]) : null]);
  return Object.fromEntries(read) as Texts<Name>;
}

/** Returns the changed fields for the audit log, or undefined if nothing changed. */
export function describeChange<Row extends object>(from: Row, to: Row): { from: object; to: object } | undefined {
  const names = (Object.keys(to) as (keyof Row)[]).filter((name) => !isDeepStrictEqual(from[name], to[name]));
  const pick = (row: Row) => Object.fromEntries(names.map((name) => [name, row[name]]));
  return names.length === 0 ? undefined : { from: pick(from), to: pick(to) };
}
