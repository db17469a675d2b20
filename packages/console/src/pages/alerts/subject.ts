import { places } from '../../address/places.ts';
import type { Alert } from '../../api/types.ts';

type What = 'order' | 'events' | 'requests' | 'channel' | 'paymentChannels' | 'benefit' | 'differences';

interface Place {
  readonly what: What;
  readonly to: string;
}

/** Returns the page that shows the subject of an alert, or undefined if there is none. */
export function placeOfSubject({ kind, subject, orderNo }: Alert): Place | undefined {
  if (orderNo !== null) return { what: 'order', to: places.order(orderNo) };
  switch (kind) {
    case 'webhook-given-up':
      return { what: 'events', to: places.events({ appId: subject, status: 'GIVE_UP' }) };
    case 'webhook-failing':
      return { what: 'events', to: places.events({ appId: subject }) };
    case 'undecryptable-fields':
      return { what: 'requests', to: places.requests({ appId: subject, code: 'failed' }) };
    case 'agreement-number-of-another-channel':
      return { what: 'channel', to: places.channel(subject.split(' ')[0] ?? subject) };
    case 'order-number-of-another-channel':
      return { what: 'requests', to: places.requests({ appId: subject.split(' ')[0] ?? subject, code: '420002' }) };
    case 'pool-empty':
    case 'pool-low':
      return { what: 'benefit', to: `${places.benefits()}?code=${encodeURIComponent(subject)}` };
    case 'institution-silent':
    case 'institution-declining':
      return { what: 'paymentChannels', to: places.paymentChannel(subject) };
    case 'reconciliation-difference':
    case 'reconciliation-failed': {
      const [, paymentChannelCode, day] = /^(.+) (\d{4}-\d\d-\d\d)$/.exec(subject) ?? [];
      if (paymentChannelCode === undefined) return undefined;
      return { what: 'differences', to: places.differences({ paymentChannelCode, day }) };
    }
    default:
      return undefined;
  }
}
