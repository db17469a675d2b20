import { type Html, html } from '../html.js';
import { type SignedLink, toFormLinkFields, toLinkQuery } from '../link.js';
import type { BenefitPosition } from '../page-sql.js';
import type { Frame } from './layout.js';

/** The pages that a link opens. */
export type PagePath = '' | '/benefits' | '/codes' | '/past' | '/payments' | '/unsubscribe' | '/ended';

export const pageAddress = (
  { root }: Pick<Frame, 'root'>,
  link: SignedLink,
  path: PagePath = '',
  more: Readonly<Record<string, string>> = {},
): string => `${root}/redeem${path}?${toLinkQuery(link, more)}`;

/** `3-1`, as addresses name a benefit. */
export const benefitText = ({ cycleNo, position }: BenefitPosition): string => `${cycleNo}-${position}`;

/** The part of the page that shows what was just claimed. */
export const DONE_ANCHOR = 'done';

/** Where a claim was made: the page of what can be claimed that begins with a benefit, or the first page. */
export type Place = BenefitPosition | undefined;

export const placeAddress = (
  frame: Pick<Frame, 'root'>,
  link: SignedLink,
  place: Place,
  more: Readonly<Record<string, string>> = {},
): string =>
  place
    ? pageAddress(frame, link, '/benefits', { from: benefitText(place), ...more })
    : pageAddress(frame, link, '', more);

/** The page after a claim: the one it was made on. */
export const doneAddress = (frame: Pick<Frame, 'root'>, link: SignedLink, place: Place, done: string): string =>
  `${placeAddress(frame, link, place, { done })}#${DONE_ANCHOR}`;

/** Hidden inputs of a form with the values of the link. */
export function renderLinkInputs(link: SignedLink): Html {
  const inputs = Object.entries(toFormLinkFields(link)).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`${inputs}`;
}
