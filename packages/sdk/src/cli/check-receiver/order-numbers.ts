import { Option } from 'commander';
import { createClient, readChannel } from '../channel-file.js';
import type { Call } from '../frame/command.js';
import { CommandError } from '../frame/io.js';

/** What a receiver may know an order by. Undefined: made up. */
export interface OrderNumbers {
  readonly orderNo?: string | undefined;
  readonly externalOrderNo?: string | undefined;
  readonly channelUserId?: string | undefined;
}

export const ORDER_OPTIONS: readonly Option[] = [
  new Option('--order <no>', 'number of an order that the receiver knows; the service is asked for its other numbers'),
  new Option('--external-order-no <no>', 'your own number of the order; with it the service is not asked'),
  new Option('--channel-user-id <id>', 'your id of the user of the order'),
];

/** As they are given; what is missing of an order that is named, from the service. */
export async function readOrderNumbers(call: Call): Promise<OrderNumbers> {
  const { order: orderNo, externalOrderNo, channelUserId } = call.given;
  if (orderNo === undefined || externalOrderNo !== undefined) return { orderNo, externalOrderNo, channelUserId };
  const client = createClient(readChannel(call), { retries: 0 });
  for await (const { data } of client.events.listAll({ orderNo })) {
    if ('channelUserId' in data) {
      return { orderNo, externalOrderNo: data.externalOrderNo, channelUserId: channelUserId ?? data.channelUserId };
    }
  }
  throw new CommandError(`order ${orderNo} has no event of a period yet: name another one`);
}
