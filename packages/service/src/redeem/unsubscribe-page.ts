import { nextPayAt, type Order } from '../orders/order.js';
import { formToken } from './form-token.js';
import { type Html, html } from './html.js';
import { documentOf, type Frame } from './layout.js';
import { linkInputs, noticeBox, pageAddress } from './page.js';
import { money, type Texts } from './texts.js';
import type { UnsubscribeOutcome } from './unsubscribe.js';
import type { Visit } from './visit.js';

/** What a token for unsubscribing is about. */
export const UNSUBSCRIBE_ACTION = 'unsubscribe';

/** What became of a try; a text that is not four digits was none. */
export type Tried = UnsubscribeOutcome | { readonly kind: 'not-digits' };

/** What it means first, then the question; what was wrong with the last answer above it. */
export function unsubscribePage(frame: Frame, visit: Visit, tried?: Tried): string {
  const { texts } = frame;
  const { order, hasMobile } = visit.read;
  const open = order.status === 'ACTIVE' && hasMobile;
  const body = html`<main class="page page-narrow"><section class="panel">
<h1>${texts.endTitle}</h1>
${open ? question(frame, visit, tried) : html`<p>${order.status === 'ACTIVE' ? texts.noMobile : texts.cannotEnd[order.status]}</p>`}
<p class="keep"><a class="button button-quiet" href="${pageAddress(frame, visit.link)}">${open ? texts.keep : texts.back}</a></p>
</section></main>`;
  return documentOf(frame, texts.endTitle, body);
}

function question(frame: Frame, { channel, link, read }: Visit, tried: Tried | undefined): Html {
  const { texts } = frame;
  const wrong = tried && triedText(texts, tried);
  const told = wrong === undefined ? undefined : html`<div id="told">${noticeBox(wrong)}</div>`;
  if (tried?.kind === 'locked') return html`${told}`;
  const token = formToken(channel.callbackSecret, link, UNSUBSCRIBE_ACTION);
  return html`<ul class="means"><li>${texts.endWhatStays}</li><li>${noMore(texts, read.order)}</li><li>${texts.endForGood}</li></ul>
${told}<form class="ask" method="post" action="${frame.root}/redeem/unsubscribe">${linkInputs(link)}
<input type="hidden" name="token" value="${token}">
<label for="digits">${texts.digits}</label>
<p class="meta" id="hint">${texts.digitsHint}</p>
<input id="digits" name="digits" type="text" inputmode="numeric" autocomplete="off" required minlength="4" maxlength="4" pattern="[0-9０-９]{4}" aria-describedby="${told ? 'told hint' : 'hint'}"${told ? html` aria-invalid="true"` : undefined}>
<button class="button button-danger">${texts.endConfirm}</button>
</form>`;
}

function noMore(texts: Texts, order: Order): string {
  const next = nextPayAt(order);
  return next === null ? texts.endNoMorePayments : texts.endNoMore(money(order.amountCent), texts.date.format(next));
}

function triedText(texts: Texts, tried: Tried): string | undefined {
  if (tried.kind === 'not-digits') return texts.digitsForm;
  if (tried.kind === 'wrong') return texts.digitsWrong(tried.triesLeft);
  return tried.kind === 'locked' ? texts.locked(Math.ceil(tried.seconds / 60)) : undefined;
}
