import { createFormToken } from '../../form-token.js';
import { countBytes, type Html, html } from '../../html.js';
import type { Claimable, ClaimableGroup } from '../../page-view.js';
import { MAX_CLAIMED_TOGETHER } from '../../store/claimable-sql.js';
import type { Visit } from '../../visit.js';
import { benefitText, type Place, postAddress, renderLinkInputs } from '../addresses.js';
import type { Frame } from '../layout.js';
import { benefitAnchor, nameAnchor, renderBenefitHead, renderDescription } from './benefit-item.js';

/** The action for which a form token is issued: claiming benefits of the link's order. */
export const CLAIM_ACTION = 'claim';

/**
 * The form that all claim buttons share. On a list page it names the first benefit, so that the user returns to this
 * page after the claim.
 */
export function renderClaimForm(frame: Frame, { channel, link }: Visit, place?: Place): Html {
  const token = createFormToken(channel.callbackSecret, link, CLAIM_ACTION);
  return html`<form id="claim" method="post" action="${postAddress(frame, '/claim')}">${renderLinkInputs(link)}<input type="hidden" name="token" value="${token}">${place && html`<input type="hidden" name="from" value="${benefitText(place)}">`}</form>`;
}

export interface RenderedGroups {
  readonly groups: readonly Html[];
  /** The number of benefits in these groups. */
  readonly count: number;
}

/** Renders as many benefits as fit into the given bytes, but at least one. The last group may be incomplete. */
export function renderGroups(
  frame: Frame,
  groups: readonly ClaimableGroup[],
  { now, mostBytes }: { readonly now: number; readonly mostBytes: number },
): RenderedGroups {
  let room = mostBytes;
  let count = 0;
  const rendered: Html[] = [];
  for (const group of groups) {
    const items: Html[] = [];
    for (const one of group.benefits) {
      const own = sharedDeadline(group) === undefined ? renderDeadline(frame, one, now) : undefined;
      const item = renderItem(frame, one, own);
      room -= countBytes(item);
      if (room < 0 && count > 0) break;
      items.push(item);
      count += 1;
    }
    if (items.length > 0) rendered.push(renderGroup(frame, group, items, now));
    if (room < 0) break;
  }
  return { groups: rendered, count };
}

function renderGroup(frame: Frame, group: ClaimableGroup, items: Html[], now: number): Html {
  const { texts } = frame;
  const { cycleNo, count } = group;
  const shared = sharedDeadline(group);
  const all =
    count > 1 &&
    html`<p class="claim-all"><button class="button button-soft" form="claim" formaction="${postAddress(frame, '/claim-all')}" name="period" value="${cycleNo}">${texts.claimAll(count)}</button></p>`;
  return html`<section class="group" aria-labelledby="p-${cycleNo}">
<div class="group-head"><h3 id="p-${cycleNo}">${texts.periodShort(cycleNo)}</h3>
${shared && renderDeadline(frame, shared, now)}</div>
<ul class="list">
${items}</ul>
${all || undefined}</section>
`;
}

/** Renders one button for the benefits of all periods. It belongs to the form of `renderClaimForm`. */
export const renderClaimEverything = (frame: Frame, count: number): Html =>
  html`<p class="claim-all"><button class="button" form="claim" formaction="${postAddress(frame, '/claim-all')}" name="period" value="all">${frame.texts.claimEverything(count, MAX_CLAIMED_TOGETHER)}</button></p>
`;

/** Returns a benefit with the deadline that all benefits of the period share. Undefined if the deadlines differ. */
const sharedDeadline = ({ benefits: [first, ...others] }: ClaimableGroup): Claimable | undefined =>
  others.every(({ deadline }) => deadline === first.deadline) ? first : undefined;

const DAY_MS = 86_400_000;
/** If fewer days than this remain until a benefit's deadline, the page shows the remaining time. */
const URGENT_DAYS = 3;

function renderDeadline({ texts }: Frame, { deadline }: Claimable, now: number): Html {
  const days = Math.floor((deadline - now) / DAY_MS);
  const urgent = days < URGENT_DAYS ? html`<span class="chip chip-warn">${texts.daysLeft(days)}</span> ` : undefined;
  return html`<p class="deadline">${urgent}<span>${texts.claimBy(texts.dateTime(deadline))}</span></p>`;
}

function renderItem(frame: Frame, one: Claimable, ownDeadline: Html | undefined): Html {
  const { texts } = frame;
  const id = `${benefitAnchor(one)}-claim`;
  const worth = one.faceValueCent === 0 ? undefined : texts.worth(frame.money(one.faceValueCent));
  return html`<li class="benefit" id="${benefitAnchor(one)}">
${renderBenefitHead(frame, one, worth, 'h4')}
${renderDescription(one)}${ownDeadline}<button class="button" id="${id}" form="claim" name="claim" value="${benefitText(one)}" aria-labelledby="${id} ${nameAnchor(one)}">${texts.claim}</button>
</li>
`;
}
