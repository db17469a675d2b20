import { createCheckingClient, readChannel } from '../channel-file.js';
import { type Call, type Option, textOf } from '../frame/command.js';
import { CommandError } from '../frame/io.js';

/** What a receiver may know an order by. Undefined: made up. */
export interface OrderNumbers {
  readonly orderNo?: string | undefined;
  readonly externalOrderNo?: string | undefined;
  readonly channelUserId?: string | undefined;
}

export const ORDER_OPTIONS: readonly Option[] = [
  {
    name: 'order',
    kind: 'text',
    value: 'NO',
    about: 'number of an order that the receiver knows; the service is asked for its other numbers',
  },
  {
    name: 'external-order-no',
    kind: 'text',
    value: 'NO',
    about: 'your own number of the order; with it the service is not asked',
  },
  { name: 'channel-user-id', kind: 'text', value: 'ID', about: 'your id of the user of the order' },
];

/** As they are given; what is missing of an order that is named, from the service. */
export async function readOrderNumbers({ io, given }: Pick<Call, 'io' | 'given'>): Promise<OrderNumbers> {
  const orderNo = textOf(given, 'order');
  const externalOrderNo = textOf(given, 'external-order-no');
  const channelUserId = textOf(given, 'channel-user-id');
  if (orderNo === undefined || externalOrderNo !== undefined) return { orderNo, externalOrderNo, channelUserId };
  const client = createCheckingClient(readChannel(io, given), { retries: 0 });
  for await (const { data } of client.events.listAll({ orderNo })) {
    if ('channelUserId' in data) {
      return { orderNo, externalOrderNo: data.externalOrderNo, channelUserId: channelUserId ?? data.channelUserId };
    }
  }
  throw new CommandError(`order ${orderNo} has no event of a period yet: name another one`);
}
