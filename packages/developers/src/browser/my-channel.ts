import type { ChannelSetData, EventRecord, MainOrder, RequestRecord } from '@perennial/wire';
import { CODES } from '@perennial/wire/codes';
import {
  areKept,
  type Channel,
  type Credentials,
  createPageRequestId,
  isOfPage,
  keepCredentials,
  openChannel,
  recallCredentials,
  startSignIn,
  tell,
  tellError,
  whileBusy,
} from './channel.js';
import { element, find } from './dom.js';

/** The page on which a channel sees and changes what is its own. The credentials are in memory only, unless kept. */

const root = document.documentElement.dataset['root'] ?? '';
const LIST_SIZE = 20;
/** The number of requests that are read at once, and how often more are read to find LIST_SIZE of other programs. */
const PAGE_SIZE = 50;
const MAX_PAGES = 3;
/** The number of latest events in which the page looks for orders, and the number of orders that it shows. */
const EVENTS_FOR_ORDERS = 60;
const MAX_ORDERS = 8;

let channel: Channel | undefined;

const byId = <Found extends HTMLElement = HTMLElement>(id: string): Found => {
  const found = find<Found>(`#${id}`);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
};
const valueIn = (id: string): string => byId<HTMLInputElement | HTMLSelectElement>(id).value.trim();

/** Returns the client. Only signed-in readers see the forms that use it. */
function client(): Channel {
  if (!channel) throw new Error('Sign in first.');
  return channel;
}

/** Sends a request of this page, under a request id by which the list of requests recognizes it. */
const send: Channel['send'] = (name, body) => client().send(name, body, { requestId: createPageRequestId() });

if (document.documentElement.dataset['environment'] === 'sandbox') start();

function start(): void {
  startSignIn(byId<HTMLFormElement>('sign-in'), enter);
  byId('sign-out').addEventListener('click', leave);
  onSubmit('requests-form', 'requests-said', () => showRequests());
  byId('requests-more').addEventListener('click', () =>
    run('requests-form', 'requests-said', () => showRequests(true)),
  );
  onSubmit('orders-form', 'orders-said', showOrders);
  onSubmit('events-form', 'events-said', () => showEvents());
  byId('events-more').addEventListener('click', () => run('events-form', 'events-said', () => showEvents(true)));
  onSubmit('callback-form', 'callback-said', saveCallback);
  byId('test-push').addEventListener('click', () => run('callback-form', 'callback-said', sendTestPush));
  onSubmit('fields-form', 'fields-said', saveFields);
  onSubmit('notice-form', 'notice-said', saveNotice);
  onSubmit('roll-form', 'roll-said', rollSecret);
  byId('roll-name').addEventListener('change', showOverlap);
  find('#signed-in .tabs')?.addEventListener('change', showTab);
  const kept = recallCredentials();
  if (kept) void openChannel(kept).then(enter, (error: unknown) => tellError(find('#sign-in .said'), error));
}

const run = (around: string, status: string, work: () => Promise<unknown>) =>
  whileBusy(byId(around), byId(status), work);

function onSubmit(form: string, status: string, work: () => Promise<unknown>): void {
  byId(form).addEventListener('submit', (event) => {
    event.preventDefault();
    byId(status).replaceChildren();
    void run(form, status, work);
  });
}

function enter(opened: Channel): void {
  channel = opened;
  byId('who').textContent = opened.credentials.appId;
  byId('signed-out').hidden = true;
  byId('signed-in').hidden = false;
  showTab();
}

/** Loads the chosen tab when it is shown for the first time. */
const loaded = new Set<string>();
const TABS: Readonly<Record<string, () => Promise<void>>> = {
  Requests: () => run('requests-form', 'requests-said', () => showRequests()),
  Orders: () => run('orders-form', 'orders-said', showOrders),
  Events: () => run('events-form', 'events-said', () => showEvents()),
  Receiver: () => run('callback-form', 'callback-said', readSettings),
  Secrets: () => run('roll-form', 'roll-said', readSettings),
};

function showTab(): void {
  const name = find<HTMLInputElement>('#signed-in .tabs > input:checked')?.value ?? '';
  if (loaded.has(name)) return;
  loaded.add(name);
  void TABS[name]?.();
}

/** Forgets the credentials and everything that the page shows. */
function leave(): void {
  keepCredentials(undefined);
  location.reload();
}

/** Returns the list's rows after the last shown row, or from the beginning. */
const cursors = new Map<string, string | null>();

function fill(
  list: string,
  items: readonly HTMLElement[],
  isMore: boolean,
  nextCursor: string | null,
  none: string,
): void {
  const shown = items.length === 0 && !isMore ? [element('li', { class: 'quiet' }, none)] : items;
  if (isMore) byId(list).append(...shown);
  else byId(list).replaceChildren(...shown);
  cursors.set(list, nextCursor);
  const more = find<HTMLElement>(`#${list.replace('-list', '-more')}`);
  if (more) more.hidden = nextCursor === null;
}

const cursorOf = (list: string, isMore: boolean) => {
  const cursor = isMore ? cursors.get(list) : null;
  return cursor ? { cursor } : {};
};

// Requests

async function showRequests(isMore = false): Promise<void> {
  const [code, requestId] = [valueIn('requests-code'), valueIn('requests-id')];
  const filter = { ...(code === '' ? {} : { code }), ...(requestId === '' ? {} : { requestId }) };
  let cursor = isMore ? (cursors.get('requests-list') ?? null) : null;
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
      element('span', { class: 'quiet' }, answeredAt),
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

// Orders

async function showOrders(): Promise<void> {
  const number = valueIn('order-number');
  const orders = number === '' ? await findLatestOrders() : [await findOrder(number)];
  fill(
    'orders-list',
    orders.map(renderOrder),
    false,
    null,
    'No orders yet: create one with your program, or in the reference.',
  );
}

/** Finds the orders of the latest events, because the interface lists orders by user only. */
async function findLatestOrders(): Promise<MainOrder[]> {
  const { data } = await send('events/list', { size: EVENTS_FOR_ORDERS });
  const numbers = [...new Set(data.events.map(({ orderNo }) => orderNo))].slice(0, MAX_ORDERS);
  return Promise.all(numbers.map(async (orderNo) => (await send('orders/query', { orderNo })).data));
}

/** Finds an order by the service's number or by the channel's. */
async function findOrder(number: string): Promise<MainOrder> {
  if (/^\d{1,19}$/.test(number)) {
    try {
      return (await send('orders/query', { orderNo: number })).data;
    } catch (error) {
      if ((error as { code?: string }).code !== CODES.SUBSCRIPTION_NOT_FOUND.code) throw error;
    }
  }
  return (await send('orders/query', { externalOrderNo: number })).data;
}

const TONES: Readonly<Record<string, string>> = {
  ACTIVE: 'positive',
  SUCCESS: 'positive',
  BILLED: 'positive',
  COMPLETED: 'positive',
  DELIVERED: 'positive',
  INITIALIZING: 'waiting',
  PROCESSING: 'waiting',
  FAIL_RETRY: 'waiting',
  PENDING: 'waiting',
  FAIL: 'negative',
  TERMINATED: 'negative',
  GIVE_UP: 'negative',
  NO_CALLBACK: 'negative',
};

const status = (text: string): HTMLElement => element('span', { class: `status ${TONES[text] ?? 'plain'}` }, text);

function renderOrder(order: MainOrder): HTMLElement {
  const { orderNo, externalOrderNo, orderStatus, createTime, nextPayTime, paymentRecords } = order;
  const periods = paymentRecords.map(({ cycleNo, paymentStatus, expectPayTime }) =>
    element(
      'li',
      { class: TONES[paymentStatus] ?? 'plain', title: `period ${cycleNo}, ${expectPayTime}: ${paymentStatus}` },
      element('span', { class: 'only-read' }, `period ${cycleNo}: ${paymentStatus}`),
    ),
  );
  const said = element('div', { class: 'said', role: 'status' });
  const item = element(
    'li',
    {},
    element(
      'p',
      { class: 'record-head' },
      status(orderStatus),
      element('b', {}, orderNo),
      element('span', { class: 'quiet' }, externalOrderNo),
    ),
    element(
      'p',
      { class: 'quiet small' },
      `created ${createTime}${nextPayTime === null ? '' : `, next payment ${nextPayTime}`}`,
    ),
    element('ol', { class: 'periods' }, ...periods),
  );
  const waiting = paymentRecords.filter(
    ({ paymentStatus }) => paymentStatus === 'WAIT' || paymentStatus === 'FAIL_RETRY',
  );
  if (orderStatus === 'ACTIVE' && waiting.length > 0) {
    const slider = renderTimeSlider(order, waiting, item, said);
    item.append(element('details', { class: 'fold' }, element('summary', {}, 'Move in time'), slider));
  }
  item.append(said);
  return item;
}

/** Renders a slider over the periods to come, which advances the order to the chosen period. */
function renderTimeSlider(
  { orderNo, paymentRecords }: MainOrder,
  waiting: MainOrder['paymentRecords'],
  item: HTMLElement,
  said: HTMLElement,
): HTMLElement {
  const [sliderId, outcomeId] = [`slide-${orderNo}`, `outcome-${orderNo}`];
  const slider = element('input', { type: 'range', id: sliderId, min: '1', max: String(waiting.length), value: '1' });
  const shown = element('output', { for: sliderId });
  const say = () => {
    const last = waiting[Number(slider.value) - 1];
    shown.textContent = `period ${last?.cycleNo}, due ${last?.expectPayTime}`;
    slider.setAttribute('aria-valuetext', shown.textContent);
  };
  slider.addEventListener('input', say);
  say();
  const outcome = element('select', { id: outcomeId });
  outcome.append(byId<HTMLTemplateElement>('outcomes').content.cloneNode(true));
  // In way B the channel collects, so that no period can fail.
  const isCollected = paymentRecords.some(({ paymentStatus }) => paymentStatus === 'BILLED');
  const choice = element('div', {}, element('label', { for: outcomeId }, 'Outcome of each debit'), outcome);
  choice.hidden = isCollected;
  const form = element(
    'form',
    { class: 'form travel' },
    element('div', {}, element('label', { for: sliderId }, 'Advance through '), slider, shown),
    choice,
    element(
      'div',
      { class: 'buttons' },
      element('button', { type: 'submit', class: 'button button-quiet' }, 'Advance'),
    ),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void whileBusy(form, said, async () => {
      const cycles = Number(slider.value);
      const outcomes =
        outcome.value === 'SUCCESS' ? {} : { outcomes: Array.from({ length: cycles }, () => outcome.value) };
      const { data } = await send('sandbox/orders/advance', { orderNo, cycles, ...outcomes });
      const renewed = renderOrder(data);
      item.replaceWith(renewed);
      const fold = renewed.querySelector('details');
      if (fold) fold.open = true;
      renewed.querySelector('input')?.focus();
      loaded.delete('Events');
    });
  });
  return form;
}

// Events

async function showEvents(isMore = false): Promise<void> {
  const deliveryStatus = valueIn('events-status');
  const { data } = await send('events/list', {
    ...(deliveryStatus === '' ? {} : { deliveryStatus }),
    size: LIST_SIZE,
    ...cursorOf('events-list', isMore),
  });
  fill('events-list', data.events.map(renderEvent), isMore, data.nextCursor, 'No such events.');
}

function renderEvent({
  eventId,
  eventType,
  orderNo,
  occurredAt,
  deliveryStatus,
  pushes,
  lastPushTime,
  data,
}: EventRecord): HTMLElement {
  const said = element('div', { class: 'said', role: 'status' });
  const button = element('button', { type: 'button', class: 'button button-quiet' }, 'Replay');
  button.setAttribute('aria-label', `Replay event ${eventId}`);
  const item = element(
    'li',
    {},
    element(
      'p',
      { class: 'record-head' },
      status(deliveryStatus),
      element('b', {}, eventType),
      element('span', { class: 'quiet' }, occurredAt),
    ),
    element(
      'p',
      { class: 'quiet small' },
      `event ${eventId}, order ${orderNo}, ${pushes === 0 ? 'not pushed' : `${pushes === 1 ? 'pushed' : `pushed ${pushes} times, last`} ${lastPushTime}`}`,
    ),
    element(
      'div',
      { class: 'record-foot' },
      element(
        'details',
        { class: 'fold' },
        element('summary', {}, 'Data'),
        element('pre', { tabindex: '0' }, JSON.stringify(data, null, 2)),
      ),
      button,
    ),
    said,
  );
  button.addEventListener('click', () =>
    whileBusy(item, said, async () => {
      await send('events/replay', { eventIds: [eventId] });
      tell(said, 'right', 'The event is sent again', 'Refresh the list to see what your receiver answered.');
    }),
  );
  return item;
}

// Settings

/** Reads the settings. Their fields are disabled meanwhile, so that the answer does not replace what the reader types. */
async function readSettings(): Promise<void> {
  const fields = [
    byId<HTMLInputElement>('callback-url'),
    byId<HTMLSelectElement>('fields-version'),
    byId<HTMLInputElement>('notice-days'),
  ];
  for (const field of fields) field.disabled = true;
  try {
    showSettings((await send('sandbox/channel/set', {})).data);
  } finally {
    for (const field of fields) field.disabled = false;
  }
}

function showSettings({ callbackUrls, encryptedFields, upcomingNoticeDays, formerSecretUntil }: ChannelSetData): void {
  byId<HTMLInputElement>('callback-url').value = callbackUrls.find(({ forEvents }) => forEvents === '*')?.url ?? '';
  const others = callbackUrls.filter(({ forEvents }) => forEvents !== '*');
  byId('callback-others').replaceChildren(
    ...others.map(({ forEvents, url }) =>
      element('li', {}, `${forEvents}: `, element('code', {}, url), ', set by your operator'),
    ),
  );
  byId<HTMLSelectElement>('fields-version').value = encryptedFields;
  byId<HTMLInputElement>('notice-days').value = String(upcomingNoticeDays);
  byId('overlap-until').textContent =
    formerSecretUntil === null ? '' : `The former appSecret is valid until ${formerSecretUntil}.`;
}

async function saveCallback(): Promise<void> {
  const { data } = await send('sandbox/channel/set', { callbackUrl: valueIn('callback-url') });
  showSettings(data);
  const url = data.callbackUrls.find(({ forEvents }) => forEvents === '*')?.url;
  tell(
    byId('callback-said'),
    'right',
    url === undefined ? 'Your channel has no callback address' : `Your events are sent to ${url}`,
  );
}

async function sendTestPush(): Promise<void> {
  const { data } = await send('sandbox/events/test', {});
  const { accepted, url, httpStatus, answer, durationMs } = data;
  const answered = httpStatus === null ? answer : `HTTP ${httpStatus} after ${durationMs} ms: ${answer}`;
  const title = accepted ? 'Your receiver accepted the test push' : 'Your receiver did not accept the test push';
  tell(
    byId('callback-said'),
    accepted ? 'right' : 'wrong',
    title,
    ...(url === null ? [] : [element('code', { class: 'long' }, url)]),
    ` ${answered}`,
  );
}

async function saveFields(): Promise<void> {
  const { data } = await send('sandbox/channel/set', { encryptedFields: valueIn('fields-version') });
  showSettings(data);
  tell(byId('fields-said'), 'right', `Encrypted fields are in svc_aes_${data.encryptedFields}`);
}

async function saveNotice(): Promise<void> {
  const { data } = await send('sandbox/channel/set', { upcomingNoticeDays: Number(valueIn('notice-days')) });
  showSettings(data);
  const { upcomingNoticeDays: days } = data;
  tell(
    byId('notice-said'),
    'right',
    days === 0
      ? 'Your channel gets no notices'
      : `The notice is sent ${days} ${days === 1 ? 'day' : 'days'} before the debit`,
  );
}

function showOverlap(): void {
  byId<HTMLSelectElement>('roll-overlap').disabled = valueIn('roll-name') !== 'appSecret';
}

const SECRET_BYTES = 32;

async function rollSecret(): Promise<void> {
  const name = valueIn('roll-name');
  const secret = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(SECRET_BYTES))));
  const overlapHours = Number(valueIn('roll-overlap'));
  const said = byId('roll-said');
  const show = (kind: 'right' | 'wrong', title: string) =>
    tell(said, kind, title, `New ${name}: `, element('code', { class: 'long', id: 'new-secret' }, secret));
  const body = { [name]: secret, ...(name === 'appSecret' ? { overlapHours } : {}) };
  try {
    const { data } = await send('sandbox/channel/set', body);
    showSettings(data);
  } catch (error) {
    // Without an answer the secret may be in use, so it must not be lost.
    if (typeof (error as { code?: unknown }).code !== 'string')
      return show('wrong', 'No answer: the secret may have changed. Sign in with the new one to find out');
    throw error;
  }
  byId<HTMLFormElement>('roll-form').reset();
  showOverlap();
  await takeOver(name, secret);
  show('right', `The ${name} is replaced. Store the new one now`);
}

/** Continues with the new secret. */
async function takeOver(name: string, secret: string): Promise<void> {
  const credentials: Credentials = {
    ...client().credentials,
    ...(name === 'callbackSecret' ? {} : { [name]: secret }),
  };
  const wereKept = areKept();
  channel = await openChannel(credentials);
  if (wereKept) keepCredentials(credentials);
}
