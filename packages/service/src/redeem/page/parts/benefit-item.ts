import { type Html, html, isolated } from '../../html.js';
import type { PageBenefit } from '../../page-view.js';
import type { Frame } from '../layout.js';

type Place = Pick<PageBenefit, 'cycleNo' | 'position'>;

export const benefitAnchor = ({ cycleNo, position }: Place): string => `b-${cycleNo}-${position}`;

/** The id of the element with the benefit's name. Labels refer to this id, so that a long name is sent only once. */
export const nameAnchor = (one: Place): string => `${benefitAnchor(one)}-name`;

/** The default icon. Every benefit without an icon refers to this one drawing. */
export const GIFT = html`<svg class="defs" aria-hidden="true"><symbol id="gift" viewBox="0 0 24 24"><path d="M4.5 12v8h15v-8M3 8h18v4H3zM12 8v12M12 8C7 8 6.5 3.5 9 3.5c2 0 3 2.5 3 4.5zm0 0c5 0 5.5-4.5 3-4.5-2 0-3 2.5-3 4.5z"/></symbol></svg>`;

export function renderIcon({ root }: Frame, { icon }: PageBenefit): Html {
  return icon === null
    ? html`<svg class="icon" aria-hidden="true"><use href="#gift"/></svg>`
    : html`<img class="icon" src="${root}/redeem/images/${icon}" alt="" loading="lazy">`;
}

export function renderBenefitHead(
  frame: Frame,
  one: PageBenefit,
  meta: string | Html | undefined,
  level: 'h3' | 'h4',
  id = nameAnchor(one),
): Html {
  const name = isolated(one.name);
  const heading =
    level === 'h3' ? html`<h3 class="name" id="${id}">${name}</h3>` : html`<h4 class="name" id="${id}">${name}</h4>`;
  return html`${renderIcon(frame, one)}
<div class="about">${heading}${
    meta === undefined
      ? undefined
      : html`
<p class="meta">${meta}</p>`
  }</div>`;
}

export const renderDescription = ({ description }: PageBenefit): Html | undefined =>
  description === undefined ? undefined : html`<p class="description">${isolated(description)}</p>\n`;
