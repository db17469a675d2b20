import type { EventRecord } from '@perennial/wire';
import { tell, whileBusy } from '../channel.js';
import { element, moment } from '../dom.js';
import { fill, LIST_SIZE, nextCursorOf, renderStatus } from './lists.js';
import { send, valueIn } from './session.js';

export async function showEvents(isMore = false): Promise<void> {
  const cursor = isMore ? nextCursorOf('events-list') : null;
  const deliveryStatus = valueIn('events-status');
  const { data } = await send('events/list', {
    ...(deliveryStatus === '' ? {} : { deliveryStatus }),
    size: LIST_SIZE,
    ...(cursor === null ? {} : { cursor }),
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
      renderStatus(deliveryStatus),
      element('b', {}, eventType),
      element('span', { class: 'quiet moment' }, occurredAt),
    ),
    element(
      'p',
      { class: 'quiet small' },
      `event ${eventId}, order ${orderNo}, `,
      ...(lastPushTime === null
        ? ['not pushed']
        : [pushes === 1 ? 'pushed ' : `pushed ${pushes} times, last `, moment(lastPushTime)]),
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
