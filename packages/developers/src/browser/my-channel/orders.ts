import type { MainOrder } from '@perennial/wire';
import { CODES } from '@perennial/wire/codes';
import { whileBusy } from '../channel.js';
import { element, moment } from '../dom.js';
import { fill, renderStatus, TONES } from './lists.js';
import { byId, outdateTab, send, valueIn } from './session.js';

/** The number of latest events in which the page looks for orders, and the number of orders that it shows. */
const EVENTS_FOR_ORDERS = 60;
const MAX_ORDERS = 8;

export async function showOrders(): Promise<void> {
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
      renderStatus(orderStatus),
      element('b', {}, orderNo),
      element('span', { class: 'quiet' }, externalOrderNo),
    ),
    element(
      'p',
      { class: 'quiet small' },
      ...['created ', moment(createTime)],
      ...(nextPayTime === null ? [] : [', next payment ', moment(nextPayTime)]),
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
    shown.replaceChildren(`period ${last?.cycleNo}, due `, moment(last?.expectPayTime ?? ''));
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
      outdateTab('Events');
    });
  });
  return form;
}
