import { type Html, html } from '../html.js';

/**
 * Returns the form for a channel's credentials. Its script shows it, and its fields have no names: a browser without
 * scripts must not send secrets in an address. `id` makes its ids unique.
 */
export function renderSignIn(id: string): Html {
  const field = (name: string, label: string, type: 'text' | 'password') => html`<div>
<label for="${id}-${name}">${label}</label>
<input type="${type}" id="${id}-${name}" autocomplete="off" autocapitalize="off" spellcheck="false" required>
</div>`;
  return html`<form class="form sign-in" id="${id}" hidden>
<div>
<label for="${id}-file">Credentials file</label>
<p class="hint" id="${id}-file-hint">For example <code>data/demo-channel.json</code>. Or fill in the fields: the whole file may be pasted into any of them.</p>
<input type="file" id="${id}-file" accept=".json,application/json" aria-describedby="${id}-file-hint">
</div>
<div class="pair">
${field('appId', 'appId', 'text')}
${field('appSecret', 'appSecret', 'password')}
${field('aesKey', 'aesKey', 'password')}
</div>
<p class="tick"><label><input id="${id}-keep" type="checkbox"><span>Stay signed in on these pages until this tab is closed</span></label></p>
<div class="buttons"><button type="submit" class="button">Sign in</button></div>
<p class="quiet small">Your secrets stay in this browser: they sign and encrypt requests here, and are not sent or stored anywhere else.</p>
<div class="said" role="status"></div>
</form>`;
}
