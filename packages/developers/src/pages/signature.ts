import { type Finding, HEADERS } from '@perennial/wire';
import { type Html, html } from '../html.js';
import type { Page } from '../layout.js';
import { renderMarkdown } from '../markdown.js';

/** Returns the page that diagnoses a refused request, which the reader pastes or names by its request id. */
export function signaturePage(text: string, mistakes: readonly Finding[]): Page {
  const body = renderMarkdown(text, {
    form: renderForm,
    refused: renderRefused,
    mistakes: () => renderMistakes(mistakes),
  });
  return {
    path: 'signature',
    title: 'Signature diagnosis',
    summary: 'Paste a request whose signature was refused, and see its seven lines and the probable mistake.',
    kind: 'Tool',
    body,
    shape: 'wide',
    scripts: ['signature.js'],
  };
}

const PARTS = [
  ['path', 'Path, with its query'],
  ['timestamp', HEADERS.timestamp],
  ['nonce', HEADERS.nonce],
  ['sent-id', HEADERS.requestId],
  ['signature', HEADERS.signature],
] as const;

const part = ([id, label]: (typeof PARTS)[number]): Html => html`<div>
<label for="${id}">${label}</label>
<input type="text" id="${id}" autocomplete="off" spellcheck="false">
</div>`;

const secret = (id: string, label: string, hint: string): Html => html`<div>
<label for="${id}">${label}</label>
<p class="hint" id="${id}-hint">${hint}</p>
<input type="password" id="${id}" autocomplete="off" spellcheck="false" aria-describedby="${id}-hint">
</div>`;

function renderForm(): Html {
  return html`<noscript><p class="callout">This page needs JavaScript, because it checks your request in the browser.</p></noscript>
<form class="form" id="signature-form" action="#outcome">
<div>
<label for="request">The request</label>
<p class="hint" id="request-hint">A curl command, or the raw HTTP request: request line, headers, an empty line, body.</p>
<textarea id="request" rows="9" spellcheck="false" autocomplete="off" aria-describedby="request-hint"></textarea>
</div>
<details class="children" id="parts"><summary>Parts of the request: check them, or type them in</summary>
<div class="pair parts">
${PARTS.map(part)}
</div>
<div class="parts">
<label for="body">Body</label>
<p class="hint" id="body-hint">Every character counts, including spaces and line breaks.</p>
<textarea id="body" rows="3" spellcheck="false" autocomplete="off" aria-describedby="body-hint"></textarea>
</div>
</details>
<div class="pair">
${secret('app-secret', 'appSecret', 'In base64, as you received it.')}
${secret('callback-secret', 'callbackSecret', 'Optional: detects a signature with the wrong secret.')}
${secret('aes-key', 'aesKey', 'Optional: detects a signature with the wrong secret.')}
</div>
<div class="buttons">
<button type="submit" class="button">Find the mistake</button>
<button type="button" class="button button-quiet" id="example">Fill in an example</button>
</div>
</form>
<section class="outcome" id="outcome" aria-live="polite" aria-label="Result" tabindex="-1"></section>`;
}

function renderRefused(): Html {
  return html`<form class="form" id="refused-form" action="#refused-outcome">
<div>
<label for="request-id">Request id</label>
<p class="hint" id="request-id-hint">Your X-SVC-Request-Id, or the requestId of the answer.</p>
<div class="row"><input type="text" id="request-id" spellcheck="false" autocomplete="off" maxlength="1024" aria-describedby="request-id-hint"><button type="submit" class="button">Look up</button></div>
</div>
</form>
<section class="outcome" id="refused-outcome" aria-live="polite" aria-label="Result of the service" tabindex="-1"></section>`;
}

function renderMistakes(mistakes: readonly Finding[]): Html {
  return html`<ul class="fields">${mistakes.map(
    ({ mistake, hint }) =>
      html`<li id="${mistake}"><p class="field"><code class="field-name">${mistake}</code></p><p>${hint}</p></li>`,
  )}</ul>`;
}
