import {
  type Channel,
  keepCredentials,
  openChannel,
  recallCredentials,
  startSignIn,
  tellError,
  whileBusy,
} from './channel.js';
import { find } from './dom.js';
import { showEvents } from './my-channel/events.js';
import { showOrders } from './my-channel/orders.js';
import { showRequests } from './my-channel/requests.js';
import { byId, isFirstShown, useChannel } from './my-channel/session.js';
import {
  readSettings,
  rollSecret,
  saveCallback,
  saveFields,
  saveNotice,
  sendTestPush,
  showOverlap,
} from './my-channel/settings.js';

/** The page on which a channel sees and changes what is its own: signing in, and the tabs. */

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
  useChannel(opened);
  byId('who').textContent = opened.credentials.appId;
  byId('signed-out').hidden = true;
  byId('signed-in').hidden = false;
  showTab();
}

const TABS: Readonly<Record<string, () => Promise<void>>> = {
  Requests: () => run('requests-form', 'requests-said', () => showRequests()),
  Orders: () => run('orders-form', 'orders-said', showOrders),
  Events: () => run('events-form', 'events-said', () => showEvents()),
  Receiver: () => run('callback-form', 'callback-said', readSettings),
  Secrets: () => run('roll-form', 'roll-said', readSettings),
};

/** Loads the chosen tab when it is shown for the first time. */
function showTab(): void {
  const name = find<HTMLInputElement>('#signed-in .tabs > input:checked')?.value ?? '';
  if (isFirstShown(name)) void TABS[name]?.();
}

/** Forgets the credentials and everything that the page shows. */
function leave(): void {
  keepCredentials(undefined);
  location.reload();
}
