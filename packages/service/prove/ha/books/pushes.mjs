import { decryptField, formatTime } from '@perennial/wire';
import { pushedData } from './events.mjs';
import { differences, lost, wrong } from './findings.mjs';

/** Compares the received pushes with the stored events: the receiver must have every event and nothing else. */
export function pushesOf({ orders }, { received, writes, aesKey }) {
  const findings = [];
  const key = Buffer.from(aesKey, 'base64');
  const created = new Map(
    writes.filter(({ endpoint }) => endpoint === 'orders/create').map(({ about, body }) => [about, body]),
  );
  const known = new Set();
  for (const order of orders.values()) {
    const { mobileEncrypted } = created.get(order.externalOrderNo) ?? {};
    const mobile = mobileEncrypted && decryptField(mobileEncrypted, key);
    for (const event of order.events) {
      known.add(event.eventId);
      const about = `event ${event.eventId} of order ${order.orderNo}`;
      const pushes = received.get(event.eventId);
      if (pushes === undefined) findings.push(lost(`${about} never came`));
      for (const text of new Set(pushes)) {
        findings.push(...pushFindings(`the push of ${about}`, JSON.parse(text), { order, event, mobile, key }));
      }
    }
  }
  for (const [eventId, [first]] of received) {
    if (known.has(eventId)) continue;
    findings.push(lost(`event ${eventId} of order ${JSON.parse(first).data.orderNo} came, and is not here`));
  }
  return findings;
}

function pushFindings(about, { retryNo, data, ...envelope }, { order, event, mobile, key }) {
  const { eventId, eventType, occurredAt } = event;
  const { mobileEncrypted, ...rest } = data;
  const findings = [
    ...differences(about, envelope, { eventId, eventType, occurredAt: formatTime(occurredAt) }),
    ...differences(about, rest, pushedData(order, event)),
  ];
  if (!Number.isSafeInteger(retryNo) || retryNo < 0) findings.push(wrong(`${about}: retryNo is ${retryNo}`));
  if (!isMobileRight(mobileEncrypted)) findings.push(wrong(`${about}: the mobile is not the user's`));
  return findings;

  /**
   * Payment events carry the mobile, encrypted for the channel, if the agreement is shared. Otherwise the field is
   * null.
   */
  function isMobileRight(sealed) {
    if (eventType !== 'payment.status.changed') return sealed === undefined;
    if (!order.shared) return sealed === null;
    try {
      return decryptField(sealed, key) === mobile;
    } catch {
      return false;
    }
  }
}
