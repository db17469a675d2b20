import type { RequestRecord } from '@perennial/wire';
import { CODES } from '@perennial/wire/codes';
import { isOfPage } from '../channel.js';
import { element } from '../dom.js';
import { fill, LIST_SIZE, nextCursorOf } from './lists.js';
import { send, valueIn } from './session.js';

const root = document.documentElement.dataset['root'] ?? '';
/** The number of requests that are read at once, and how often more are read to find LIST_SIZE of other programs. */
const PAGE_SIZE = 50;
const MAX_PAGES = 3;

export async function showRequests(isMore = false): Promise<void> {
  const [code, requestId] = [valueIn('requests-code'), valueIn('requests-id')];
  const filter = { ...(code === '' ? {} : { code }), ...(requestId === '' ? {} : { requestId }) };
  let cursor = isMore ? nextCursorOf('requests-list') : null;
  const requests: RequestRecord[] = [];
  // Leaves out the page's own requests, so a page of the list may have too few others.
  for (let pages = 0; pages < MAX_PAGES && requests.length < LIST_SIZE && (pages === 0 || cursor !== null); pages++) {
    const place = cursor === null ? {} : { cursor };
    const { data } = await send('sandbox/requests/list', { ...filter, size: PAGE_SIZE, ...place });
    requests.push(...data.requests.filter((request) => requestId !== '' || !isOfPage(request.requestId)));
    cursor = data.nextCursor;
  }
  const none = code === '' && requestId === '' ? 'No requests yet.' : 'No such request in the last seven days.';
  fill('requests-list', requests.map(renderRequest), isMore, cursor, none);
}

/** Codes of refusals that have a diagnosis. */
const DIAGNOSED: readonly string[] = [CODES.SIGNATURE_INVALID.code, CODES.TIMESTAMP_SKEWED.code];

function renderRequest(request: RequestRecord): HTMLElement {
  const { requestId, answeredAt, path, code, reason, httpStatus, durationMs, address } = request;
  const isRefused = code !== CODES.SUCCESS.code;
  const diagnosis = DIAGNOSED.includes(code)
    ? [
        element(
          'p',
          {},
          element('a', { href: `${root}/developers/signature?request=${encodeURIComponent(requestId)}` }, 'Diagnosis'),
        ),
      ]
    : [];
  const more =
    isRefused && !DIAGNOSED.includes(code) && code !== ''
      ? [
          element(
            'p',
            {},
            element('a', { href: `${root}/developers/guides/errors#code-${code}` }, `What ${code} means`),
          ),
        ]
      : [];
  return element(
    'li',
    {},
    element(
      'p',
      { class: 'record-head' },
      element('span', { class: `status ${isRefused ? 'negative' : 'positive'}` }, code === '' ? 'no answer' : code),
      element('b', {}, path.replace('/openapi/v1/', '')),
      element('span', { class: 'quiet moment' }, answeredAt),
    ),
    ...(reason === null ? [] : [element('p', { class: 'reason' }, reason.replace(/; see \S+$/, ''))]),
    element(
      'p',
      { class: 'quiet small' },
      `HTTP ${httpStatus}, ${durationMs} ms, from ${address}, request id `,
      element('code', {}, requestId),
    ),
    ...diagnosis,
    ...more,
  );
}
