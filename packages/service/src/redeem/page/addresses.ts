import { type Html, html } from '../html.js';
import { type SignedLink, toFormLinkFields, toLinkQuery } from '../link.js';
import type { BenefitPosition } from '../store/benefits-sql.js';
import type { Frame } from './layout.js';

export type PagePath = '' | '/benefits' | '/codes' | '/past' | '/payments' | '/receipt' | '/unsubscribe' | '/ended';

/** The parts of a frame that URLs contain. */
export type Way = Pick<Frame, 'root' | 'lang'>;

export const pageAddress = (
  { root, lang }: Way,
  link: SignedLink,
  path: PagePath = '',
  more: Readonly<Record<string, string>> = {},
): string => `${root}/redeem${path}?${toLinkQuery(link, lang === undefined ? more : { ...more, lang })}`;

/** Returns the URL to which a form is posted. */
export const postAddress = (
  { root, lang }: Way,
  path: '/claim' | '/claim-all' | '/unsubscribe' | '/send-code' | '/send-link',
): string => `${root}/redeem${path}${lang === undefined ? '' : `?lang=${lang}`}`;

/** Returns a benefit as URLs name it, such as `3-1`. */
export const benefitText = ({ cycleNo, position }: BenefitPosition): string => `${cycleNo}-${position}`;

/** The anchor of the section that shows the benefits just claimed. */
export const DONE_ANCHOR = 'done';

/** The page on which a claim is made: the list page that begins with this benefit, or the main page if undefined. */
export type Place = BenefitPosition | undefined;

export const placeAddress = (
  frame: Way,
  link: SignedLink,
  place: Place,
  more: Readonly<Record<string, string>> = {},
): string =>
  place
    ? pageAddress(frame, link, '/benefits', { from: benefitText(place), ...more })
    : pageAddress(frame, link, '', more);

/** Returns the URL to show after a claim: the page on which the claim was made. */
export const doneAddress = (frame: Way, link: SignedLink, place: Place, done: string): string =>
  `${placeAddress(frame, link, place, { done })}#${DONE_ANCHOR}`;

export function renderLinkInputs(link: SignedLink): Html {
  const inputs = Object.entries(toFormLinkFields(link)).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`${inputs}`;
}
