import { formatTime, trimSlashes, verifyRedeemLink } from '@perennial/wire';
import { createChannelRegistry } from '../../catalog/channels/channel-registry.js';
import { readFormFields, readLink, type SignedLink } from '../../redeem/link.js';
import { createRedeemLinks } from '../../subscriptions/domain/orders/redeem-links.js';
import { recordLimited } from '../audit/trace-read.js';
import { inTransaction, type OperatorWithClock } from '../operator.js';
import { findOrderOfAnyChannel } from './orders-sql.js';
import { requireOrder } from './show-order.js';

interface LinkTools {
  /** The URL at which users reach the redemption page. */
  readonly redeemUrl: () => string;
}

/** Creates a link for the user of an order. The order's codes are visible to anyone who has the link. */
export async function createRedemptionLink(
  operator: OperatorWithClock,
  { orderNo }: { readonly orderNo: string },
  { redeemUrl }: LinkTools,
) {
  const { actor, vault, clock } = operator;
  return inTransaction(operator, async (tx) => {
    const order = await requireOrder(tx, { orderNo });
    // A registry of its own reads the current secret.
    const channel = await createChannelRegistry(tx, vault).getById(order.channelId);
    const links = createRedeemLinks(redeemUrl, clock);
    const terms = links.newTerms(order.channelUserId);
    const expiresAt = formatTime(terms.exp * 1000);
    await recordLimited(tx, { actor, action: 'link.create', subject: orderNo, detail: { expiresAt } });
    return { url: links.sign(channel, orderNo, terms), expiresAt };
  });
}

/**
 * Says whether a text is a redemption link of this installation, for which order, and whether it opens. `OTHER_HOST`:
 * the link is genuine, but leads to a site that is not this installation. `CHANGED`: a value was changed, or the link is
 * older than the channel's last reset of its secret.
 */
export async function checkRedemptionLink(
  { database, vault, clock }: OperatorWithClock,
  { link: text }: { readonly link: string },
  { redeemUrl }: LinkTools,
) {
  const own = new URL(redeemUrl());
  const signed = text.split(/\s/).find((word) => /[?&]sig=/.test(word)) ?? '';
  // Host names have at most 253 characters. Without the limit a long text would take seconds.
  const [bare = ''] = /[\w.:-]{1,253}\/.*/.exec(signed) ?? [];
  const [address = `${own.protocol}//${bare}`] = /https?:\/\/\S+/.exec(text) ?? [];
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const pages = `${trimSlashes(own.pathname)}/redeem`;
  const isHere = url?.origin === own.origin && (url.pathname === pages || url.pathname.startsWith(`${pages}/`));
  const link = url && readLink(readFormFields(url.search.slice(1)));
  const found = link && (await findSigned({ database, vault }, link));
  const host = url?.host ?? null;
  if (!link || !found) return { status: isHere ? ('INCOMPLETE' as const) : ('NOT_OURS' as const), host, ...NOTHING };
  const { orderNo, isGenuine } = found;
  if (!isGenuine) {
    if (!isHere) return { status: 'NOT_OURS' as const, host, ...NOTHING };
    return { status: 'CHANGED' as const, host, orderNo, expiresAt: null };
  }
  const expiresAt = formatTime(link.exp * 1000);
  if (!isHere) return { status: 'OTHER_HOST' as const, host, orderNo, expiresAt };
  const status = link.exp <= clock.now() / 1000 ? ('EXPIRED' as const) : ('VALID' as const);
  return { status, host, orderNo, expiresAt };
}

const NOTHING = { orderNo: null, expiresAt: null };

/** Returns the order that a link names, if it is an order of the link's channel, and whether the link was made for it. */
async function findSigned({ database, vault }: Pick<OperatorWithClock, 'database' | 'vault'>, link: SignedLink) {
  const channel = await createChannelRegistry(database, vault).get(link.appId);
  const named = await findOrderOfAnyChannel(database, { orderNo: link.orderNo });
  const order = named?.channelId === channel?.channelId ? named : undefined;
  const signed = { ...link, orderNo: String(link.orderNo) };
  const isSigned = channel !== undefined && verifyRedeemLink(signed, link.sig, channel.callbackSecret);
  const isGenuine = isSigned && order?.channelUserId === link.channelUserId;
  return { orderNo: order ? String(order.orderNo) : null, isGenuine };
}
