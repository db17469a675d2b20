import { inParallel, orderOf, range, uniqueMobile } from './caller.mjs';

const PRODUCT = 'ABUSE_LONG';
/** As many as a product may have. */
const CYCLES = 9_999;

export const LONG_ORDERS = { usual: 100, short: 20, means: 'orders of the user, each of 9,999 periods' };

/** A channel with a user who has so many orders of 9,999 periods, and the request that lists them. Once for each stage. */
export async function longOrders({ stage, options, signal }) {
  const found = stage.kept.get(longOrders);
  if (found !== undefined) return found;
  await stage.perennial(
    ...['product', 'create', PRODUCT, '--name', 'Long', '--mode', 'CHANNEL_COLLECT', '--period-type', 'DAY'],
    ...['--cycles', String(CYCLES), '--amount-cent', '100', '--benefit', 'DAY_PASS:100'],
  );
  const attacker = await stage.ownAttacker({ products: [PRODUCT] });
  const user = { channelUserId: 'hoarder', mobile: uniqueMobile() };
  const make = () => attacker.call('orders/create', orderOf(attacker, PRODUCT, user));
  const made = await inParallel(2, range(options.orders), signal, make);
  signal.throwIfAborted();
  const refused = made.find(({ code }) => code !== '0');
  if (refused !== undefined) throw new Error(`orders/create answered ${refused.code}`);
  const list = () => attacker.signed('orders/list', { channelUserId: user.channelUserId });
  const kept = { attacker, list };
  stage.kept.set(longOrders, kept);
  return kept;
}
