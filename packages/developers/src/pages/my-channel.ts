import { MAX_NOTICE_DAYS, rehearsedOutcomes } from '@perennial/wire';
import { renderTabs } from '../code-blocks.js';
import { type Html, html, raw } from '../html.js';
import type { Page } from '../layout.js';
import { renderHeading } from '../markdown.js';
import { link } from './parts.js';
import { renderSignIn } from './sign-in.js';

/** Returns the page on which a channel sees its own requests, orders, events and settings in the sandbox. */
export function myChannelPage(): Page {
  const tabs = renderTabs(
    [
      { name: 'Requests', content: renderRequests() },
      { name: 'Orders', content: renderOrders() },
      { name: 'Events', content: renderEvents() },
      { name: 'Receiver', content: renderReceiver() },
      { name: 'Secrets', content: renderSecrets() },
    ],
    { label: 'Your channel', isOuter: true },
  );
  const body = html`<p class="eyebrow">Tool</p>
<h1>Your console</h1>
<p>See the requests, orders and events of your channel in the sandbox, and change its settings. This page calls the API as your own
programs do: the SDK signs each request in your browser, and the same limits apply.</p>
<p class="callout only-production">This page works in the sandbox only. This installation is in production: ask your operator.</p>
<noscript><p class="callout">This page needs JavaScript, because it signs requests in the browser.</p></noscript>
<div class="only-sandbox" id="signed-out">
${renderSignIn('sign-in')}
</div>
<div class="only-sandbox" id="signed-in" hidden>
<div class="bar"><p>Signed in as <code id="who"></code></p><button type="button" class="button button-quiet" id="sign-out">Sign out</button></div>
${tabs}
</div>`;
  return {
    path: 'console',
    title: 'Your console',
    summary: 'Your requests with their diagnosis, your orders, events, callback address and secrets in the sandbox.',
    kind: 'Tool',
    words: 'dashboard console log requests replay advance slider callback rotate roll secret try',
    body,
    shape: 'wide',
    scripts: ['my-channel.js'],
  };
}

const heading = (text: string, id: string): Html => raw(renderHeading(2, text, id));

const said = (id: string): Html => html`<div class="said" id="${id}" role="status"></div>`;

function renderRequests(): Html {
  return html`${heading('Requests', 'requests')}
<p class="quiet">The requests with your app id in the last seven days, newest first. A refused signature has a diagnosis for 15 minutes.</p>
<form class="form filters" id="requests-form">
<div><label for="requests-code">Show</label>
<select id="requests-code"><option value="">all requests</option><option value="failed">refused requests</option></select></div>
<div><label for="requests-id">Request id</label>
<input type="text" id="requests-id" autocomplete="off" spellcheck="false" maxlength="1024"></div>
<div><button type="submit" class="button button-quiet">Refresh</button></div>
</form>
${said('requests-said')}
<ul class="records" id="requests-list"></ul>
<p><button type="button" class="button button-quiet" id="requests-more" hidden>Show older requests</button></p>`;
}

function renderOrders(): Html {
  return html`${heading('Orders', 'orders')}
<p class="quiet">The orders of your latest events. Find any other order by its number.</p>
<form class="form filters" id="orders-form">
<div><label for="order-number">orderNo or externalOrderNo</label>
<input type="text" id="order-number" autocomplete="off" spellcheck="false" maxlength="128"></div>
<div><button type="submit" class="button button-quiet">Find, or refresh</button></div>
</form>
${said('orders-said')}
<ul class="records" id="orders-list"></ul>
<template id="outcomes">${rehearsedOutcomes.map((outcome) => html`<option>${outcome}</option>`)}</template>`;
}

function renderEvents(): Html {
  return html`${heading('Events', 'events')}
<p class="quiet">Your latest events. A replay sends an event to your callback address again, with the same id.</p>
<form class="form filters" id="events-form">
<div><label for="events-status">Show</label>
<select id="events-status"><option value="">all events</option><option value="PENDING">not yet acknowledged</option><option value="GIVE_UP">given up</option><option value="NO_CALLBACK">without a callback address</option><option value="DELIVERED">delivered</option></select></div>
<div><button type="submit" class="button button-quiet">Refresh</button></div>
</form>
${said('events-said')}
<ul class="records" id="events-list"></ul>
<p><button type="button" class="button button-quiet" id="events-more" hidden>Show older events</button></p>`;
}

function renderReceiver(): Html {
  return html`${heading('Callback address', 'receiver')}
<p class="quiet">In production your operator registers this address.</p>
<form class="form" id="callback-form">
<div><label for="callback-url">Address for your events</label>
<p class="hint" id="callback-hint">HTTPS on the internet, or <code>http://localhost</code> if the sandbox runs on your machine with its embedded database. Leave it empty for no address.</p>
<input type="text" id="callback-url" inputmode="url" autocomplete="off" spellcheck="false" maxlength="1024" aria-describedby="callback-hint"></div>
<ul class="records" id="callback-others"></ul>
<div class="buttons"><button type="submit" class="button">Save</button><button type="button" class="button button-quiet" id="test-push">Send a test push</button></div>
</form>
${said('callback-said')}
${heading('Encrypted fields', 'encrypted-fields')}
<p class="quiet">The version of encrypted fields in your events, and in answers to requests without encrypted fields. ${link('guides/signing#encrypted-fields', 'Encrypted fields')} has code for both.</p>
<form class="form" id="fields-form">
<div><label for="fields-version">Version</label>
<select id="fields-version"><option value="v1">svc_aes_v1, the default</option><option value="v2">svc_aes_v2, which detects tampering</option></select></div>
<div class="buttons"><button type="submit" class="button">Save</button></div>
</form>
${said('fields-said')}
${heading('Notice before a debit', 'notice')}
<p class="quiet">The event <code>payment.upcoming</code> announces each renewal. See ${link('guides/webhooks#notice-before-a-debit', 'notice before a debit')}.</p>
<form class="form" id="notice-form">
<div><label for="notice-days">Days before the debit</label>
<p class="hint" id="notice-hint">1 to ${MAX_NOTICE_DAYS}, or 0 for no notice.</p>
<input type="number" id="notice-days" min="0" max="${MAX_NOTICE_DAYS}" required aria-describedby="notice-hint"></div>
<div class="buttons"><button type="submit" class="button">Save</button></div>
</form>
${said('notice-said')}`;
}

function renderSecrets(): Html {
  return html`${heading('Roll a secret', 'roll')}
<p class="quiet">This page creates the new secret and shows it once. Store it before you leave the page. The old secret is invalid immediately, except
for an <code>appSecret</code> with an overlap: ${link('guides/signing#rotate-a-secret', 'how to roll without an interruption')}.</p>
<form class="form" id="roll-form">
<div class="pair">
<div><label for="roll-name">Secret</label>
<select id="roll-name"><option>appSecret</option><option>callbackSecret</option><option>aesKey</option></select></div>
<div><label for="roll-overlap">The old appSecret stays valid for</label>
<select id="roll-overlap"><option value="24">24 hours</option><option value="168">7 days</option><option value="1">1 hour</option><option value="0">no time</option></select></div>
</div>
<p class="tick"><label><input id="roll-sure" type="checkbox" required><span>I will store the new secret and deploy it</span></label></p>
<div class="buttons"><button type="submit" class="button">Roll the secret</button></div>
</form>
<p class="quiet" id="overlap-until"></p>
${said('roll-said')}`;
}
