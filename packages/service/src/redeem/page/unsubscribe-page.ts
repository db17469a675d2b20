import { nextPayAt } from '../../subscriptions/domain/orders/order.js';
import { createFormToken } from '../form-token.js';
import { type Html, html, isolated } from '../html.js';
import { backText, productNameOf } from '../page-view.js';
import { type Seller, sellerOf } from '../seller.js';
import type { RedeemEnding } from '../store/ending-sql.js';
import type { Texts } from '../texts/en.js';
import type { UnsubscribeOutcome } from '../unsubscribe.js';
import type { Visit } from '../visit.js';
import { pageAddress, postAddress, renderLinkInputs } from './addresses.js';
import { type Frame, renderDocument } from './layout.js';
import { type Illustration, renderIllustration } from './parts/illustrations.js';
import { renderNotice } from './parts/notice.js';
import { renderSmallPrint } from './parts/subscription-panel.js';

/** The actions for which tokens of forms are issued. */
export const UNSUBSCRIBE_ACTION = 'unsubscribe';
export const SEND_CODE_ACTION = 'send-code';

/** The result of an attempt to unsubscribe. A text that is not digits does not count as an attempt. */
export type UnsubscribeTry =
  | UnsubscribeOutcome
  | { readonly kind: 'not-digits' | 'not-code' | 'too-often' | 'not-sent' };

/** How the user confirms: by the last digits of the login mobile, or by a code that was sent to it. */
export type ConfirmBy = 'digits' | 'code';

/** Renders the form for the last four digits of the mobile, or the reason why the subscription cannot be ended here. */
export function renderUnsubscribePage(
  frame: Frame,
  visit: Visit<RedeemEnding>,
  by: ConfirmBy,
  tried?: UnsubscribeTry,
): string {
  const seller = sellerOf(visit.channel);
  const { title, heading, drawing, content, leave } = chooseContent(frame, visit, seller, by, tried);
  const main = html`<main class="page page-narrow"><section class="panel${drawing ? ' message' : ''}">
${drawing && renderIllustration(drawing)}<h1 class="name">${heading}</h1>
${content}
<p class="keep"><a class="button button-quiet" href="${pageAddress(frame, visit.link)}">${leave}</a></p>
</section></main>`;
  const smallPrint = renderSmallPrint(frame, visit.read.order);
  return renderDocument(frame, {
    ...{ title: `${title} · ${seller.name}`, seller, main, smallPrint },
    hasWayBack: true,
    hasSellerLinks: drawing === 'locked',
  });
}

interface PageContent {
  readonly title: string;
  readonly heading: string | Html;
  readonly drawing?: Illustration;
  readonly content: Html;
  /** The text of the link back. */
  readonly leave: string;
}

function chooseContent(
  frame: Frame,
  visit: Visit<RedeemEnding>,
  seller: Seller,
  by: ConfirmBy,
  tried: UnsubscribeTry | undefined,
): PageContent {
  const { texts } = frame;
  const { order, hasMobile } = visit.read;
  const leave = backText(texts, visit.read);
  const cannot =
    order.status === 'ACTIVE'
      ? hasMobile
        ? undefined
        : texts.noMobile(seller.nameHtml)
      : texts.cannotEnd[order.status];
  if (cannot !== undefined) {
    const content = html`<p class="says">${cannot}</p>`;
    return { title: texts.end, heading: texts.end, drawing: 'ended', content, leave };
  }
  if (tried?.kind === 'locked') {
    const says = tried.seconds === null ? texts.lockedForGood : texts.locked(Math.ceil(tried.seconds / 60));
    const content = html`<p role="alert">${says}</p>
<p>${frame.canSend ? texts.lockedSendCode : texts.lockedAsk(seller.nameHtml)}</p>
${renderSendCode(frame, visit, 'button')}${renderContact(frame, seller)}`;
    return { title: texts.lockedTitle, heading: texts.lockedTitle, drawing: 'locked', content, leave };
  }
  return {
    title: texts.endTitlePlain,
    heading: texts.endTitle(isolated(productNameOf(visit.read, texts.language))),
    content: renderQuestion(frame, visit, seller, by, tried),
    leave: texts.keep,
  };
}

/** Renders the consequences of unsubscribing, then the error of the last attempt, then the form. */
function renderQuestion(
  frame: Frame,
  visit: Visit<RedeemEnding>,
  seller: Seller,
  by: ConfirmBy,
  tried: UnsubscribeTry | undefined,
): Html {
  const { texts } = frame;
  const { channel, link, read } = visit;
  const wrong = tried && tryText(texts, tried);
  const told = wrong === undefined ? undefined : html`<div id="told">${renderNotice(wrong)}</div>`;
  const token = createFormToken(channel.callbackSecret, link, UNSUBSCRIBE_ACTION);
  const field = FIELDS[by];
  const { label, hint } = {
    digits: { label: texts.digits, hint: texts.digitsHint(seller.nameHtml) },
    code: texts.code,
  }[by];
  return html`<ul class="means">${meaningOf(frame, link.exp, read, seller).map((line) => html`<li>${line}</li>`)}</ul>
${told}<form class="ask" method="post" action="${postAddress(frame, '/unsubscribe')}">${renderLinkInputs(link)}
<input type="hidden" name="token" value="${token}">
<label for="digits">${label}</label>
<p class="meta" id="hint">${hint}</p>
<input id="digits" name="${by}" type="text" inputmode="numeric" autocomplete="${field.autocomplete}" required autofocus minlength="${field.length}" maxlength="${field.length}" pattern="[0-9０-９]{${field.length}}" aria-describedby="${told ? 'told hint' : 'hint'}"${told ? html` aria-invalid="true"` : undefined}>
<button class="button button-danger">${texts.endConfirm}</button>
</form>
${renderSendCode(frame, visit, 'link', by)}`;
}

const FIELDS = {
  digits: { length: 4, autocomplete: 'off' },
  code: { length: 6, autocomplete: 'one-time-code' },
} as const;

/** Renders the button that sends a code to the login mobile, if the installation can send messages. */
function renderSendCode(
  frame: Frame,
  { channel, link }: Visit,
  look: 'button' | 'link',
  by: ConfirmBy = 'digits',
): Html | undefined {
  if (!frame.canSend) return undefined;
  const { texts } = frame;
  const token = createFormToken(channel.callbackSecret, link, SEND_CODE_ACTION);
  return html`<form class="other-way" method="post" action="${postAddress(frame, '/send-code')}">${renderLinkInputs(link)}
<input type="hidden" name="token" value="${token}">
<button class="${look === 'link' ? 'link link-button' : 'button'}">${by === 'code' ? texts.sendCodeAgain : texts.sendCode}</button>
</form>
`;
}

/** Renders the ways to the seller, for a user who cannot confirm here. */
function renderContact({ texts }: Frame, { support, shopUrl, nameHtml }: Seller): Html | undefined {
  const links = [
    support &&
      html`<a class="link" href="${support.href}" rel="noopener noreferrer"><span>${texts.support[support.kind]} <bdi>${support.text}</bdi></span></a>`,
    shopUrl &&
      html`<a class="link" href="${shopUrl}" rel="noopener noreferrer"><span>${texts.backTo(nameHtml)}</span></a>`,
  ].flatMap((link) => (link ? [link] : []));
  return links.length === 0 ? undefined : html`<p class="ways-on">${links}</p>`;
}

/** Returns the consequences: what the user keeps and until when, what ends, and that ending is final. */
function meaningOf({ texts, money }: Frame, exp: number, read: RedeemEnding, seller: Seller): (string | Html)[] {
  const { order, toClaim, lastDeadline, codes, lastExpiresAt } = read;
  const next = nextPayAt(order);
  const planned = next === null ? undefined : { amount: money(order.amountCent), date: texts.date(next) };
  const present = exp * 1000;
  const isShort = lastExpiresAt !== null && lastExpiresAt > present;
  return [
    ...(lastDeadline === null ? [] : [texts.endKeepsUnclaimed(toClaim, texts.dateTime(lastDeadline))]),
    ...(codes === 0 ? [] : [texts.endKeepsCodes(isShort ? undefined : texts.dateTime(present))]),
    ...(isShort ? [texts.endLink(texts.dateTime(lastExpiresAt), texts.dateTime(present))] : []),
    texts.mode[order.settlementMode].endNoMore(planned, seller.nameHtml),
    texts.endForGood,
  ];
}

function tryText(texts: Texts, tried: UnsubscribeTry): string | undefined {
  switch (tried.kind) {
    case 'not-digits':
      return texts.digitsForm;
    case 'wrong':
      return texts.digitsWrong(tried.triesLeft);
    case 'not-code':
      return texts.codeForm;
    case 'wrong-code':
      return texts.codeWrong(tried.triesLeft);
    case 'no-code':
      return texts.noCode;
    case 'too-often':
      return texts.sent['too-often'];
    case 'not-sent':
      return texts.sent['not-sent'];
    default:
      return undefined;
  }
}
