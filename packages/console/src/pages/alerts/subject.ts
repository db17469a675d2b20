import { places } from '../../address/places.ts';
import type { Alert } from '../../api/types.ts';

/** Where what an alert is about can be looked at. */
export function placeOfSubject({ kind, subject, orderNo }: Alert): string | undefined {
  if (orderNo !== null) return places.order(orderNo);
  switch (kind) {
    case 'webhook-given-up':
      return places.events({ appId: subject, status: 'GIVE_UP' });
    case 'undecryptable-fields':
      return places.requests({ appId: subject, code: 'failed' });
    case 'agreement-number-of-another-channel':
      return places.channel(subject.split(' ')[0] ?? subject);
    case 'pool-empty':
    case 'pool-low':
      return `${places.benefits()}?code=${encodeURIComponent(subject)}`;
    case 'reconciliation-difference':
    case 'reconciliation-failed': {
      const [, paymentChannelCode, day] = /^(.+) (\d{4}-\d\d-\d\d)$/.exec(subject) ?? [];
      return paymentChannelCode === undefined ? undefined : places.differences({ paymentChannelCode, day });
    }
    default:
      return undefined;
  }
}
