import { type Html, html } from '../../html.js';
import type { SignedLink } from '../../link.js';
import { isClaimable, isClaimed, isGone, type PageBenefit, type PageView } from '../../page-view.js';
import type { Texts } from '../../texts/en.js';
import { DONE_ANCHOR, pageAddress } from '../addresses.js';
import type { Frame } from '../layout.js';
import { benefitAnchor, renderBenefitHead } from './benefit-item.js';
import { codeBytes, type PictureRoom, renderCheckAgain, renderCodes } from './codes.js';
import { goneText } from './gone.js';

/** Animated by the style sheet, unless the user prefers reduced motion. */
const TICK = html`<svg class="tick" viewBox="0 0 48 48" aria-hidden="true"><circle cx="24" cy="24" r="21"/><path d="M15 25l6 6 12-13"/></svg>`;

const MOST_BYTES = 14_000;

/** Renders the benefits just claimed, with their results from the database, so that reloading shows the same. */
export function renderJustDone(
  frame: Frame,
  link: SignedLink,
  done: readonly PageBenefit[],
  room: PictureRoom,
): Html | undefined {
  // The URL may be bookmarked or forged, so the claim that it names may not have happened.
  if (done.every(isClaimable)) return undefined;
  const { texts } = frame;
  const claimed = done.filter(isClaimed);
  let bytes = MOST_BYTES;
  const fitting = claimed.filter((one, index) => {
    bytes -= codeBytes(frame, link, one);
    return index === 0 || bytes >= 0;
  });
  const others = done.filter((one) => !isClaimed(one));
  const more =
    fitting.length < claimed.length
      ? html`<p class="more"><a class="link" href="${pageAddress(frame, link, '/codes')}">${texts.yourCodes}</a></p>`
      : undefined;
  return html`<section class="panel done${claimed.length === 0 ? ' done-none' : ''}" id="${DONE_ANCHOR}" aria-labelledby="done-title" tabindex="-1">
<div class="done-head">${claimed.length === 0 ? undefined : TICK}<h2 id="done-title">${titleOf(texts, done)}</h2></div>
${fitting.length > 0 ? renderCodes(frame, link, fitting, room) : undefined}
${others.length > 0 ? html`<ul class="list">${others.map((one) => renderOther(frame, one))}</ul>` : undefined}${renderCheckAgain(frame, link, claimed)}${more}</section>
`;
}

/** Renders the result of claiming the benefits of all periods. The codes are below, latest first. */
export function renderEverythingDone({ texts }: Frame, { codesCount, toClaimCount }: PageView): Html | undefined {
  if (codesCount === 0) return undefined;
  const isAll = toClaimCount === 0;
  return html`<section class="panel done${isAll ? '' : ' done-none'}" id="${DONE_ANCHOR}" aria-labelledby="done-title" tabindex="-1">
<div class="done-head">${isAll ? TICK : undefined}<h2 id="done-title">${isAll ? texts.doneEverything : texts.doneEverythingBut(toClaimCount)}</h2></div></section>
`;
}

function titleOf(texts: Texts, done: readonly PageBenefit[]): string | Html {
  const claimed = done.filter(isClaimed);
  if (claimed.length === 0) return texts.doneNone;
  if (claimed.length < done.length) return texts.doneSome(claimed.length, done.length);
  if (claimed.every(({ code }) => code === null)) return texts.donePending;
  return texts.doneAll(done.length);
}

function renderOther(frame: Frame, one: PageBenefit): Html {
  const says = isGone(one) ? goneText(frame, one) : frame.texts.notClaimedYet;
  // Uses a different id, because a benefit that is still claimable also appears in the list below.
  const id = `${benefitAnchor(one)}-done`;
  return html`<li class="benefit gone" id="${id}">
${renderBenefitHead(frame, one, says, 'h3', `${id}-name`)}
</li>
`;
}
