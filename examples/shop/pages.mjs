// The shop's pages. They work without JavaScript: live.js only reloads them automatically.
import { html } from './html.mjs';
import { cycles, date, ORDER_WORDS, PERIOD_WORDS, price } from './words.mjs';

export const STALE_FORM = 'This form is not from your present visit. Please go back, reload the page and try again.';

const NOTES = {
  card: 'Your card has been added.',
  replaced: 'The subscription runs on the new agreement.',
  'nothing-to-claim': 'There is nothing to claim at the moment.',
};

const WAY_WORDS = { 'A.1': 'By card', 'A.2': 'By agreement', B: 'In the shop' };

// ---- The frame

function frame(visit, title, content, { isLive = false } = {}) {
  const { user } = visit;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} – Larkspur</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/shop.css">
${isLive && html`<noscript><meta http-equiv="refresh" content="5"></noscript>\n<script src="/live.js" defer></script>`}
</head>
<body>
<header class="top">
  <a class="name" href="/"><img src="/icon.svg" alt="" width="28" height="28">Larkspur <small>a sample shop</small></a>
  ${user && html`<form method="post" action="/sign-out">${hidden(visit)}<span class="who">${user.name}</span> <button class="plain">Sign out</button></form>`}
</header>
<main>
${noteOf(visit)}${content}
</main>
<footer>Nothing here is real: the sandbox charges nobody.</footer>
</body>
</html>
`;
}

const noteOf = ({ url }) => {
  const note = NOTES[url.searchParams.get('note')];
  return note && html`<p class="notice" role="status">${note}</p>\n`;
};

/** Returns hidden form fields: the given fields and the visit's token, which every form needs. */
const hidden = (visit, fields = {}) =>
  Object.entries({ token: visit.token, ...fields }).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );

const badge = ([words, tone]) => html`<span class="badge ${tone}">${words}</span>`;

/** Shows an error to the user, with the details for support below. */
const failureOf = (failure) =>
  failure &&
  html`<div class="notice bad" role="alert">
  <p>${failure.words}</p>
  ${failure.requestId && html`<p class="fine">${failure.detail}. Request <code>${failure.requestId}</code></p>`}
</div>`;

export const problem = (visit, words) =>
  frame(visit, 'Sorry', html`<h1>Sorry</h1>${failureOf({ words })}<p><a href="/">Back to the shop</a></p>`);

export const failed = (visit, failure) =>
  frame(
    visit,
    'That did not work',
    html`<h1>That did not work</h1>${failureOf(failure)}<p><a href="${backFrom(visit)}">Back</a></p>`,
  );

const backFrom = ({ url }) => url.pathname.match(/^\/orders\/[\w-]+(?=\/)/)?.[0] ?? '/';

export const notFound = (visit) =>
  frame(visit, 'Not found', html`<h1>Not found</h1><p>There is no such page. <a href="/">Back to the shop</a></p>`);

// ---- Choosing

export const home = (visit, { products, orders, selling }) =>
  frame(
    visit,
    'Memberships',
    html`<h1>Memberships</h1>
${!visit.user && signIn(visit)}
<ul class="cards">
${products.map(
  (product) => html`<li class="card">
  <h2>${product.productName}</h2>
  ${priceOf(product)}
  ${benefitsOf(product)}
  ${visit.user && html`<a class="button" href="/buy/${product.productCode}">Choose <span class="unseen">${product.productName}</span></a>`}
</li>`,
)}
</ul>
${orders.length > 0 && yourOrders(orders, selling)}`,
  );

const priceOf = (product) =>
  html`<p class="price"><strong>${price(product.amountCent)}</strong> <span>${cycles(product)}</span></p>`;

const benefitsOf = ({ benefits }) =>
  html`<ul class="benefits">${benefits.map(({ name, faceValueCent }) => html`<li>${name} <span>${price(faceValueCent)}</span></li>`)}</ul>`;

const signIn = (visit) => html`<form class="card inline" method="post" action="/sign-in">
  ${hidden(visit)}
  <label>Your name <input name="name" required maxlength="40" autocomplete="username" placeholder="Ann"></label>
  <button class="button">Sign in</button>
  <p class="fine">Any name will do. The same name is the same user.</p>
</form>`;

const yourOrders = (orders, selling) => html`<h2>Your subscriptions</h2>
<ul class="rows">
${orders.map(
  (order) =>
    html`<li><a href="/orders/${order.externalOrderNo}"><span><strong>${order.product.productName}</strong> <small>${WAY_WORDS[order.way]}</small></span> ${badge(stateOf(order, selling).badge)}</a></li>`,
)}
</ul>`;

// ---- Paying

export const ways = (visit, { product, attempt }) =>
  frame(
    visit,
    product.productName,
    html`<p class="crumb"><a href="/">Memberships</a></p>
<h1>${product.productName}</h1>
${priceOf(product)}
<h2>How would you like to pay?</h2>
<div class="cards">
${product.settlementModes.includes('SVC_DEDUCT') && html`${byCard(visit, product, attempt)}${byAgreement(visit, product, attempt)}`}
${product.settlementModes.includes('CHANNEL_COLLECT') && inTheShop(product)}
</div>`,
  );

const byCard = (visit, product, attempt) => html`<section class="card">
  <h3>${WAY_WORDS['A.1']} <span class="way">A.1</span></h3>
  <p>You add a card here, and the service debits it each time.</p>
  ${
    visit.user.card
      ? html`<p>Card ending in ${visit.user.card.tail}. <a href="/card?product=${product.productCode}">Use another</a></p>
  <form method="post" action="/orders">
    ${hidden(visit, { attempt, product: product.productCode, way: 'A.1' })}
    ${pretending()}
    <button class="button">Subscribe by card</button>
  </form>`
      : html`<a class="button" href="/card?product=${product.productCode}">Add a card</a>`
  }
</section>`;

const byAgreement = (visit, product, attempt) => html`<section class="card">
  <h3>${WAY_WORDS['A.2']} <span class="way">A.2</span></h3>
  <p>You have signed an agreement with the shop before. The shop shares it, and the service debits on it.</p>
  <form method="post" action="/orders">
    ${hidden(visit, { attempt, product: product.productCode, way: 'A.2' })}
    ${pretending()}
    <button class="button">Subscribe by agreement</button>
  </form>
</section>`;

const inTheShop = (product) => html`<section class="card">
  <h3>${WAY_WORDS.B} <span class="way">B</span></h3>
  <p>You pay the shop itself, each time. The service keeps the periods and the benefits.</p>
  <a class="button" href="/pay/${product.productCode}">Pay in the shop</a>
</section>`;

const pretending = () => html`<fieldset>
  <legend>In the sandbox</legend>
  <label><input type="radio" name="pretended" value="" checked> All goes well</label>
  <label><input type="radio" name="pretended" value="declined"> Pretend that the card is declined</label>
  <label><input type="radio" name="pretended" value="pending"> Pretend that the bank takes half a minute</label>
</fieldset>`;

export const card = (visit, { product, key, failure, realName, bankMobile }) =>
  frame(
    visit,
    'Add a card',
    html`<p class="crumb"><a href="/buy/${product}">Back</a></p>
<h1>Add a card</h1>
${failureOf(failure)}
<form class="card narrow" method="post" action="/card" autocomplete="off">
  ${hidden(visit, { key, product })}
  ${field('Card number', 'bankCardNo', '6222020000001234567', { isNumber: true })}
  ${field('Name on the card', 'realName', realName ?? 'Ann Example')}
  ${field('ID card number', 'certificateNo', '110101199001011234')}
  ${field('Mobile that your bank knows', 'bankMobile', bankMobile ?? '13800000001', {
    isNumber: true,
    hint: 'In the sandbox, a mobile that ends in 9 cannot be reached.',
  })}
  <button class="button">Send the code</button>
  <p class="fine">The shop passes these on encrypted, and keeps the last four digits of the card.</p>
</form>`,
  );

export const code = (visit, { product, key, failure }) =>
  frame(
    visit,
    'The code',
    html`<p class="crumb"><a href="/buy/${product}">Back</a></p>
<h1>Confirm your card</h1>
${failureOf(failure)}
<form class="card narrow" method="post" action="/card/code" autocomplete="off">
  ${hidden(visit, { key, product })}
  ${field('Code from the message', 'code', '', {
    isNumber: true,
    hint: 'The sandbox sends no message. It accepts any code except 000000.',
  })}
  <button class="button">Add the card</button>
  <p class="fine"><a href="/card?product=${product}">Have another code sent</a></p>
</form>`,
  );

const field = (label, name, value, { isNumber = false, hint } = {}) => html`<label>${label}
  <input name="${name}" value="${value}" required${isNumber && html` inputmode="numeric"`}>
  ${hint && html`<span class="fine">${hint}</span>`}</label>`;

export const pay = (visit, { product, attempt }) =>
  frame(
    visit,
    'Pay',
    html`<p class="crumb"><a href="/buy/${product.productCode}">Back</a></p>
<h1>Pay in the shop</h1>
<form class="card narrow" method="post" action="/orders">
  ${hidden(visit, { attempt, product: product.productCode, way: 'B' })}
  <p>${product.productName}: payment 1 of ${product.totalCycles}.</p>
  <p class="fine">Make-believe: a real shop would take the money here by its own means, and place the order after that.</p>
  <button class="button">Pay ${price(product.amountCent)}</button>
</form>`,
  );

// ---- An order

/** Returns the badge and the text for an order's state, whether or not the service has answered yet. */
function stateOf(order, selling) {
  if (order.service) return { badge: ORDER_WORDS[order.service.orderStatus], says: SAYS[order.service.orderStatus] };
  if (selling.isInFlight(order)) return { badge: ['Being placed', 'wait'], says: 'One moment.' };
  if (selling.isUnanswered(order))
    return {
      badge: ['Not known yet', 'wait'],
      says: 'The order was sent and no answer came back. Nothing is charged twice: the same order is asked about again.',
    };
  return { badge: ['Not placed', 'bad'], says: 'The order was refused, and nothing was charged.' };
}

const SAYS = {
  INITIALIZING: 'Your bank has not said yes or no. We will know soon; there is nothing you need to do.',
  TERMINATED: 'Your card was declined, and nothing was charged. You can try again, or pay in another way.',
  UNSUBSCRIBED: 'The subscription has been ended. What was paid for stays yours.',
  COMPLETED: 'No more payments follow.',
};

export const order = (visit, { order, selling, appId, eventsUrl }) =>
  frame(
    visit,
    order.product.productName,
    html`<p class="crumb"><a href="/">Memberships</a></p>
<div data-live="/orders/${order.externalOrderNo}/live">
${head(order, selling)}
${failureOf(order.failure)}
<div class="columns">
<div>
${actions(visit, order, selling)}
${order.service && periods(order.service)}
</div>
<div>
${timeline(visit, order, { appId, eventsUrl })}
${facts(visit, order)}
</div>
</div>
</div>`,
    { isLive: true },
  );

function head(order, selling) {
  const { badge: words, says } = stateOf(order, selling);
  const next = order.service?.nextPayTime;
  return html`<h1>${order.product.productName} ${badge(words)}</h1>
<p class="lead">${says ?? (next && nextPayment(order, next))}</p>`;
}

function nextPayment({ product, service }, time) {
  const isRepeated = service.paymentRecords.some(({ paymentStatus }) => paymentStatus === 'FAIL_RETRY');
  const amount = price(product.amountCent);
  return isRepeated
    ? `The last payment did not go through. ${amount} will be tried again on ${date(time)}.`
    : `Next payment: ${amount} on ${date(time)}.`;
}

/** Returns a form for an action on the order. */
const formFor = (visit, order) => (name, content, fields) =>
  html`<form method="post" action="/orders/${order.externalOrderNo}/${name}">${hidden(visit, fields)}${content}</form>`;

function actions(visit, order, selling) {
  const status = order.service?.orderStatus;
  const post = formFor(visit, order);
  if (!order.service && selling.isUnanswered(order) && !selling.isInFlight(order))
    return post('resume', html`<button class="button">Ask again</button>`);
  return html`<div class="actions">
${order.hasBenefits && html`<a class="button" href="/orders/${order.externalOrderNo}/benefits">Open your benefits</a>`}
${(!order.service || status === 'TERMINATED') && html`<a class="button" href="/buy/${order.product.productCode}">Try again</a>`}
${status === 'ACTIVE' && order.way === 'A.2' && post('replace', html`<button class="button second">Replace the agreement</button>`)}
${
  status === 'ACTIVE' &&
  html`<details id="end"><summary class="button second">End the subscription</summary>
  ${post('unsubscribe', html`<p>No more payments. What was paid for stays yours.</p><button class="button danger">End it now</button>`)}
</details>`
}
</div>
${
  status === 'ACTIVE' &&
  html`<div class="sandbox"><p>In the sandbox, let the next period come now:</p>
<div class="actions">
${post('advance', html`<button class="button second">It is ${order.way === 'B' ? 'billed' : 'paid'}</button>`, { outcome: 'SUCCESS' })}
${order.way !== 'B' && post('advance', html`<button class="button second">The debit fails</button>`, { outcome: 'FAIL_RETRY' })}
</div></div>`
}`;
}

const periods = ({ paymentRecords }) => html`<section class="card">
<h2>Periods</h2>
<table>
<thead><tr><th>No.</th><th>Due</th><th class="amount">Amount</th><th>State</th></tr></thead>
<tbody>
${paymentRecords.map(
  ({ cycleNo, expectPayTime, amountCent, paymentStatus }) =>
    html`<tr><td>${cycleNo}</td><td>${date(expectPayTime)}</td><td class="amount">${price(amountCent)}</td><td>${badge(PERIOD_WORDS[paymentStatus])}</td></tr>\n`,
)}
</tbody>
</table>
</section>`;

/** Describes an event. An event without a known field is of a type that a later version of the service added. */
const happened = ({ cycleNo, status, dueAt }) => {
  if (dueAt !== undefined) return html`Period ${cycleNo} is due on ${date(dueAt)}`;
  if (cycleNo !== undefined) return html`Period ${cycleNo} ${badge(PERIOD_WORDS[status])}`;
  return status === undefined ? 'Something else happened' : html`Subscription ${badge(ORDER_WORDS[status])}`;
};

const timeline = (visit, order, { appId, eventsUrl }) => html`<section class="card">
<h2>Events received</h2>
${
  order.events.length === 0
    ? html`<p>No event has come yet. Events reach this shop by one of these:</p>
<pre>npx perennial-channel listen \\
  --forward ${eventsUrl}</pre>
<pre>npx perennial-server channel set ${appId} \\
  --callback ${eventsUrl}</pre>`
    : html`<ol class="timeline">
${order.events.map(
  (event) =>
    html`<li>${happened(event)}<small>${event.occurredAt}, ${event.eventType}, event ${event.eventId}</small></li>\n`,
)}
</ol>`
}
${order.service && formFor(visit, order)('refresh', html`<button class="plain">Refresh from the service</button>`)}
</section>`;

const facts = ({ user }, { externalOrderNo, way, service, agreementNo, bindOrderNo }) => html`<section class="card">
<h2>For the developer</h2>
<dl>
<dt>Way</dt><dd>${way}, ${WAY_WORDS[way].toLowerCase()}</dd>
<dt>externalOrderNo</dt><dd><code>${externalOrderNo}</code></dd>
${service && html`<dt>orderNo</dt><dd><code>${service.orderNo}</code></dd><dt>orderStatus</dt><dd><code>${service.orderStatus}</code></dd>`}
${bindOrderNo && html`<dt>bindOrderNo</dt><dd><code>${bindOrderNo}</code></dd>`}
${agreementNo && html`<dt>sharedAgreementNo</dt><dd><code>${agreementNo}</code></dd>`}
<dt>mobile</dt><dd>ends in <code>${user.mobile.slice(-4)}</code>; whoever ends the subscription on the page of benefits is asked for these digits</dd>
</dl>
</section>`;
