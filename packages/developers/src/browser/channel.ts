import type { DataOf, EndpointName } from '@perennial/wire';
import { element } from './dom.js';

/** A channel's credentials, as in its file. */
export interface Credentials {
  readonly appId: string;
  readonly appSecret: string;
  readonly aesKey: string;
}

export interface Answered<Data> {
  readonly data: Data;
  readonly requestId: string;
  readonly httpStatus: number;
}

/** A request as it was sent. */
export interface SentRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The SDK's client. Only the part that these pages use. */
interface Client {
  send<Name extends EndpointName>(
    name: Name,
    body: object,
    options?: { readonly requestId: string },
  ): Promise<Answered<DataOf<Name>>>;
}

interface Sdk {
  readonly PerennialClient: new (options: object) => Client;
}

export interface Channel extends Client {
  readonly credentials: Credentials;
  /** The latest request other than auth/token. */
  readonly lastSent: () => SentRequest | undefined;
  /** The sandbox's warning about the latest request other than auth/token. */
  readonly lastWarning: () => string | undefined;
}

const page = document.documentElement.dataset;
const root = page['root'] ?? '';
const NAMES = ['appId', 'appSecret', 'aesKey'] as const;
/** The place in sessionStorage, which the browser empties when the tab is closed. */
const PLACE = 'perennial-channel';

/**
 * Creates the SDK's client for this installation. The SDK is loaded only now, because most readers do not sign in.
 * Throws if a credential is malformed.
 */
export async function openChannel(credentials: Credentials): Promise<Channel> {
  const { PerennialClient } = (await import(`${root}/developers/assets/${page['sdk']}`)) as Sdk;
  let last: SentRequest | undefined;
  let lastWarning: string | undefined;
  const client = new PerennialClient({
    ...credentials,
    baseUrl: location.origin,
    retries: 0,
    onWarning: (warning: string) => {
      lastWarning = warning;
    },
    // The service may be behind a path, which is not signed.
    fetch: (url: string, init: { readonly headers: Record<string, string>; readonly body: string }) => {
      const { pathname } = new URL(url);
      if (!pathname.endsWith('/auth/token')) last = { url: pathname, headers: init.headers, body: init.body };
      lastWarning = undefined;
      return fetch(root + pathname, init as RequestInit);
    },
  });
  return {
    credentials,
    lastSent: () => last,
    lastWarning: () => lastWarning,
    send: (name, body, options) => client.send(name, body, options),
  };
}

/** The beginning of the request ids of the console's own requests, which its list of requests leaves out. */
const OF_PAGE = 'console-';

export const createPageRequestId = (): string =>
  OF_PAGE +
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(16).padStart(8, '0')).join('');

export const isOfPage = (requestId: string): boolean => requestId.startsWith(OF_PAGE);

/** Returns the credentials that the reader kept for this tab. */
export function recallCredentials(): Credentials | undefined {
  try {
    return readCredentials(sessionStorage.getItem(PLACE) ?? '');
  } catch {
    return undefined;
  }
}

/** Keeps the credentials until the tab is closed, or deletes them. */
export function keepCredentials(credentials: Credentials | undefined): void {
  try {
    if (credentials === undefined) sessionStorage.removeItem(PLACE);
    else sessionStorage.setItem(PLACE, JSON.stringify(credentials));
  } catch {
    // The browser offers no storage: the reader signs in again on each page.
  }
}

export const areKept = (): boolean => recallCredentials() !== undefined;

function readCredentials(text: string): Credentials | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  const read = JSON.parse(text) as Record<string, unknown>;
  const [appId, appSecret, aesKey] = NAMES.map((name) => read[name]);
  const isText = (value: unknown): value is string => typeof value === 'string';
  return isText(appId) && isText(appSecret) && isText(aesKey) ? { appId, appSecret, aesKey } : undefined;
}

/** Starts a form for credentials. Calls `onChannel` when the service has accepted them. */
export function startSignIn(form: HTMLFormElement, onChannel: (channel: Channel) => void): void {
  const field = (name: string) => form.querySelector(`#${form.id}-${name}`) as HTMLInputElement;
  const status = form.querySelector<HTMLElement>('.said');
  const fillIn = (text: string): boolean => {
    const read = parse(text);
    for (const name of NAMES) if (read) field(name).value = read[name];
    return read !== undefined;
  };

  form.hidden = false;
  for (const name of NAMES) {
    field(name).addEventListener('paste', (event) => {
      if (fillIn(event.clipboardData?.getData('text') ?? '')) event.preventDefault();
    });
  }
  field('file').addEventListener('change', async () => {
    const [file] = field('file').files ?? [];
    if (!file || fillIn(await file.text())) return;
    field('file').value = '';
    tell(status, 'wrong', 'This is not a credentials file', 'It must be JSON with appId, appSecret and aesKey.');
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const [appId = '', appSecret = '', aesKey = ''] = NAMES.map((name) => field(name).value.trim());
    await whileBusy(form, status, async () => {
      const channel = await openChannel({ appId, appSecret, aesKey });
      await channel.send('sandbox/channel/set', {}, { requestId: createPageRequestId() });
      keepCredentials(field('keep').checked ? channel.credentials : undefined);
      form.reset();
      status?.replaceChildren();
      onChannel(channel);
    });
  });
}

function parse(text: string): Credentials | undefined {
  try {
    return readCredentials(text);
  } catch {
    return undefined;
  }
}

/** Runs `work` with the form's buttons disabled, and shows its error. */
export async function whileBusy(
  around: HTMLElement,
  status: HTMLElement | null,
  work: () => Promise<unknown>,
): Promise<void> {
  const buttons = [...around.querySelectorAll('button')].filter((button) => !button.disabled);
  for (const button of buttons) button.disabled = true;
  try {
    await work();
  } catch (error) {
    tellError(status, error);
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

/** Shows a result in a status region. */
export function tell(
  status: HTMLElement | null,
  kind: 'right' | 'wrong',
  title: string,
  ...more: (Node | string)[]
): void {
  const texts = more.length === 0 ? [] : [element('p', {}, ...more)];
  status?.replaceChildren(
    element('div', { class: `finding ${kind}` }, element('p', {}, element('b', {}, title)), ...texts),
  );
}

/** The SDK's error: a refusal with its code, or a broken connection. */
interface ClientError {
  readonly message?: unknown;
  readonly code?: unknown;
  readonly name?: unknown;
}

export function tellError(status: HTMLElement | null, error: unknown): void {
  const { code, message } = error as ClientError;
  const title = typeof code === 'string' ? `Refused with ${code}` : 'This did not work';
  tell(status, 'wrong', title, String(message ?? error));
}
