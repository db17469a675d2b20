import type { FastifyRequest } from 'fastify';
import type { FormFields, SignedLink } from '../../redeem/link.js';
import { readFormFields, readFormLink, readLink } from '../../redeem/link.js';
import { pageAddress } from '../../redeem/page/addresses.js';
import { EVERYTHING } from '../../redeem/page-view.js';
import type { BenefitPosition, JustClaimed } from '../../redeem/store/benefits-sql.js';
import { readForm } from './redeem-form.js';

export interface AskedAddress {
  readonly link: SignedLink | undefined;
  /** The entry with which the page's list begins. */
  readonly from: string | undefined;
  readonly done: string | undefined;
  /** How the user confirms an unsubscribe. */
  readonly by: string | undefined;
}

export function readAsked({ raw }: FastifyRequest): AskedAddress {
  const fields = readFormFields((raw.url ?? '').replace(/^[^?]*\??/, ''));
  return { link: readLink(fields), from: fields.get('from'), done: fields.get('done'), by: fields.get('by') };
}

/** Returns the language that the user has chosen on the page. */
export function readLanguage({ raw }: FastifyRequest): 'zh' | 'en' | undefined {
  const [, lang] = /[?&]lang=(zh|en)(?:&|$)/.exec(raw.url ?? '') ?? [];
  return lang === 'zh' || lang === 'en' ? lang : undefined;
}

/** Returns the URL of the page in another language. After a post, this is the page with the form. */
export function addressInLanguage(request: FastifyRequest, root: string, lang: 'zh' | 'en'): string {
  if (request.method === 'POST') {
    const link = readFormLink(readPostedFields(request));
    const isEnding = /\/(?:unsubscribe|send-code)$/.test(request.routeOptions.url ?? '');
    return link ? pageAddress({ root, lang }, link, isEnding ? '/unsubscribe' : '') : `${root}/redeem?lang=${lang}`;
  }
  const [path = '', query = ''] = (request.raw.url ?? '').split(/\?(.*)/s);
  const others = query.split('&').filter((pair) => pair !== '' && !pair.startsWith('lang='));
  return `${root}${path}?${[...others, `lang=${lang}`].join('&')}`;
}

/** Returns the fields of a post. A post that is no form has no fields. */
export const readPostedFields = (request: FastifyRequest): FormFields => readForm(request) ?? new Map();

/** Parses `3-1`, the first benefit of the third period. */
export function readBenefit(text: string | undefined): BenefitPosition | undefined {
  const [, cycleNo, position] = /^(\d{1,4})-(\d{1,2})$/.exec(text ?? '') ?? [];
  return cycleNo === undefined ? undefined : { cycleNo: Number(cycleNo), position: Number(position) };
}

/** Parses what was just claimed: everything, a period or a benefit. */
export function readDone(text: string | undefined): JustClaimed | undefined {
  if (text === 'all') return EVERYTHING;
  if (/^[1-9]\d{0,3}$/.test(text ?? '')) return { cycleNo: Number(text), position: undefined };
  return readBenefit(text);
}
