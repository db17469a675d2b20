import type { EndpointName } from '@perennial/wire';
import {
  type Channel,
  createPageRequestId,
  openChannel,
  recallCredentials,
  startSignIn,
  tell,
  tellError,
  whileBusy,
} from './channel.js';
import { element, find } from './dom.js';

/** "Try it" on the page of an endpoint: sends the reader's body with the reader's credentials. */

const DEMO_APP_ID = 'test_demo';
/** How much of a token and of a signature is shown. */
const SHOWN = 12;

const section = find<HTMLElement>('#try');
if (section && document.documentElement.dataset['environment'] === 'sandbox') startTrying(section);

function startTrying(around: HTMLElement): void {
  const signIn = find<HTMLFormElement>('#try-sign-in');
  const form = find<HTMLFormElement>('#try-form');
  if (!signIn || !form) return;
  const enter = (channel: Channel) => {
    signIn.hidden = true;
    form.hidden = false;
    nameReader(channel.credentials.appId);
    prepareBody(form, channel);
    form.querySelector('select')?.addEventListener('change', ({ target }) => {
      bodyField(form).value = (target as HTMLSelectElement).value;
      prepareBody(form, channel);
    });
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void send(around, form, channel);
    });
  };
  startSignIn(signIn, enter);
  const kept = recallCredentials();
  if (kept) void openChannel(kept).then(enter, (error: unknown) => tellError(signIn.querySelector('.said'), error));
}

/** Shows the reader's app id in the samples. */
function nameReader(appId: string): void {
  for (const code of document.querySelectorAll('pre code, #try-who')) {
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode())
      if (text.nodeValue) text.nodeValue = text.nodeValue.replaceAll(DEMO_APP_ID, appId);
  }
}

/**
 * Replaces numbers of the example. A request that creates something gets new ones: a channel's order number, and a user
 * with a mobile. Other requests get those of the latest order.
 */
function prepareBody(form: HTMLFormElement, channel: Channel): void {
  replaceValues(form, { appId: channel.credentials.appId });
  if (form.dataset['fresh'] !== 'true') {
    void fillInLatestOrder(form, channel);
    return;
  }
  const now = String(Math.round(performance.timeOrigin + performance.now()));
  replaceValues(form, {
    externalOrderNo: `try-${now}`,
    channelUserId: `user-${now}`,
    mobile: `1${now.slice(-10)}`,
    sharedAgreementNo: `agreement-${now}`,
  });
}

function replaceValues(form: HTMLFormElement, values: Readonly<Record<string, string>>): void {
  const field = bodyField(form);
  field.value = field.value.replaceAll(/"(\w+)": "[^"]*"/g, (whole, name: string) =>
    values[name] === undefined ? whole : `"${name}": ${JSON.stringify(values[name])}`,
  );
}

const NUMBERS_OF_ORDER = ['orderNo', 'externalOrderNo', 'paymentOrderNo', 'channelUserId'];
const MAX_EVENTS = 20;

/**
 * Replaces the example's numbers by those of the channel's latest order, because the order of the example does not
 * exist. Leaves the example if there is no order or if the reader edits it.
 */
async function fillInLatestOrder(form: HTMLFormElement, channel: Channel): Promise<void> {
  const example = bodyField(form).value;
  const names = NUMBERS_OF_ORDER.filter((name) => example.includes(`"${name}":`));
  if (names.length === 0) return;
  const options = { requestId: createPageRequestId() };
  const answer = await channel.send('events/list', { size: MAX_EVENTS }, options).catch(() => undefined);
  const events = answer?.data.events ?? [];
  // The earliest event of the order's periods is about the first period, which may have been paid.
  const ofOrder = events.filter(({ orderNo }) => orderNo === events[0]?.orderNo);
  const known: Record<string, unknown> = Object.assign({}, ...ofOrder.map(({ data }) => data));
  if (bodyField(form).value !== example) return;
  replaceValues(
    form,
    Object.fromEntries(names.map((name) => [name, known[name]]).filter(([, value]) => typeof value === 'string')),
  );
}

const bodyField = (form: HTMLFormElement) => form.elements.namedItem('body') as HTMLTextAreaElement;

async function send(around: HTMLElement, form: HTMLFormElement, channel: Channel): Promise<void> {
  const status = form.querySelector<HTMLElement>('.said');
  const shown = around.querySelector('#try-outcome');
  const endpoint = form.dataset['endpoint'] as EndpointName;
  shown?.replaceChildren();
  status?.replaceChildren();
  await whileBusy(form, status, async () => {
    const body = readBody(bodyField(form).value);
    try {
      const { data, httpStatus, requestId } = await channel.send(endpoint, body);
      const warning = channel.lastWarning();
      const outcome = `HTTP ${httpStatus}, request id ${requestId}`;
      if (warning === undefined) tell(status, 'right', 'Code 0', outcome);
      else tell(status, 'wrong', 'Code 0, with a warning', `${warning}. ${outcome}`);
      shown?.append(
        element('p', { class: 'example-label' }, 'Answer, decrypted'),
        code(JSON.stringify(data, null, 2), 'Answer'),
      );
    } finally {
      shown?.append(...describeSent(endpoint, channel));
      status?.scrollIntoView({ block: 'nearest' });
    }
  });
}

function readBody(text: string): object {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw new Error(`The body is not JSON: ${(error as Error).message}`);
  }
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw new Error('The body must be a JSON object.');
}

/** Shows the request as it was sent, so that authors of other clients can compare theirs. */
function describeSent(endpoint: string, channel: Channel): HTMLElement[] {
  const sent = channel.lastSent();
  if (!sent?.url.endsWith(endpoint)) return [];
  const headers = Object.entries(sent.headers).map(([name, value]) =>
    /^authorization$/i.test(name) ? `${name}: ${value.slice(0, SHOWN)}…` : `${name}: ${value}`,
  );
  const text = [`POST ${sent.url} HTTP/1.1`, ...headers, '', sent.body].join('\n');
  return [element('p', { class: 'example-label' }, 'Request as it was sent'), code(text, 'Request as it was sent')];
}

const code = (text: string, label: string): HTMLElement =>
  element(
    'div',
    { class: 'code' },
    element('pre', { tabindex: '0', role: 'group', 'aria-label': label }, element('code', {}, text)),
  );
