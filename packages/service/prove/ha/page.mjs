/** A user who claims a benefit on the redemption page, without a browser. */

const HEADERS = {
  'Content-Type': 'application/x-www-form-urlencoded',
  'Sec-Fetch-Site': 'same-origin',
  'Accept-Language': 'en',
};

/**
 * Opens the page, presses a benefit's button and reads the code on the next page. Keeps the form in `request`, so that
 * a retry posts the same form again, also to another node.
 */
export async function claimOnPage({ baseUrl }, request, signal) {
  if (request.form === undefined) {
    const page = await open(baseUrl, request.path, { signal });
    if (page.status !== 200) return pageAnswer(page);
    request.form = formOf(page.text, request.benefit);
    // The benefit was revoked before the page was opened, so the page has no button.
    if (request.form === undefined) return { code: 'no button', data: null, wasReplayed: true };
  }
  const body = new URLSearchParams(request.form).toString();
  const answer = await open(baseUrl, '/redeem/claim', { method: 'POST', headers: HEADERS, body, signal });
  if (answer.status !== 303) return pageAnswer(answer);
  const done = await open(baseUrl, answer.location, { signal });
  const [code] = [...done.text.matchAll(/<code>([^<]*)<\/code>/g)].map(([, text]) => text);
  if (done.status !== 200 || code === undefined) return pageAnswer(done);
  return { code: '0', data: { code }, wasReplayed: true };
}

/**
 * Returns the page's answer as a result. The page answers 409 for a benefit that cannot be claimed; any other status
 * can be retried.
 */
const pageAnswer = ({ status }) => ({
  code: status === 409 ? 'revoked' : `page ${status}`,
  data: null,
  wasReplayed: true,
});

async function open(baseUrl, place, options) {
  const response = await fetch(baseUrl + place.replace(/#.*/, ''), { redirect: 'manual', ...options });
  return { status: response.status, location: response.headers.get('location'), text: await response.text() };
}

function formOf(text, benefit) {
  const hidden = [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)];
  const [claim] = new RegExp(`(?<=name="claim" value=")${benefit}(?=")`).exec(text) ?? [];
  return claim && { ...Object.fromEntries(hidden.map(([, name, value]) => [name, value])), claim };
}
