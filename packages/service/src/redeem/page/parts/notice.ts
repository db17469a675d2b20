import { type Html, html } from '../../html.js';

/** What came of the user's last step, read out at once. */
export const renderNotice = (text: string | undefined): Html | undefined =>
  text === undefined
    ? undefined
    : html`<p class="notice" role="alert">${text}</p>
`;
