import { type Html, html } from '../../html.js';

/** Renders the result of the user's last action. Screen readers announce it at once. */
export const renderNotice = (text: string | undefined): Html | undefined =>
  text === undefined
    ? undefined
    : html`<p class="notice" role="alert">${text}</p>
`;
