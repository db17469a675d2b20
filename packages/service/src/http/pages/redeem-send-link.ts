import type { FastifyInstance } from 'fastify';
import { readFormLink } from '../../redeem/link.js';
import { renderSentPage } from '../../redeem/page/message-page.js';
import { SEND_LINK_ACTION } from '../../redeem/page/parts/link-expiry.js';
import { sellerOf } from '../../redeem/seller.js';
import { readRedeemOrder } from '../../redeem/store/order-sql.js';
import type { SentLink } from '../../redeem/texts/en.js';
import { reserveMessage } from '../../redeem/unsubscribe.js';
import type { MessageSender } from '../../redeem/user-messages.js';
import { createRedeemLinks } from '../../subscriptions/domain/orders/redeem-links.js';
import { addressGroup } from '../answers/minute-limit.js';
import { isToken, type RedeemContext } from './redeem-context.js';
import { MAX_FORM_BYTES } from './redeem-form.js';

const SENT_STATUS = { sent: 200, 'too-often': 429, 'not-sent': 503, 'no-mobile': 409 };

/** Adds the form that sends a new link to the user's login mobile. The current link may have expired. */
export function addSendLinkForm(
  pages: FastifyInstance,
  { deps, databaseOf, frameOf, readPost, refuse, refusePost, send, visitLink }: RedeemContext,
  sendMessage: MessageSender,
): void {
  const links = createRedeemLinks(deps.redeemUrl, deps.clock);
  pages.post('/redeem/send-link', { bodyLimit: MAX_FORM_BYTES }, async (request, reply) => {
    const fields = readPost(request);
    if (!fields) return refusePost(reply);
    const visited = await visitLink(readFormLink(fields), 'post', readRedeemOrder);
    if (!visited) return refuse(reply);
    if (!isToken(fields.get('token'), visited, SEND_LINK_ACTION)) return refusePost(reply);
    const { channel, link } = visited;
    const { channelUserId, orderNo } = link;
    const frame = frameOf(request);
    const answer = (result: SentLink) =>
      send(reply, frame, renderSentPage(frame, visited, result), { status: SENT_STATUS[result], channel });
    const asking = { address: addressGroup(request.ip), now: deps.clock.now() };
    const to = await databaseOf(channel).transaction((tx) => reserveMessage(tx, channel, channelUserId, asking));
    if (typeof to === 'string') return answer(to);
    const { language, messages } = frame.texts;
    const { appId } = channel;
    const url = links.sign(channel, String(orderNo), links.newTerms(channelUserId));
    const text = messages.link(sellerOf(channel).name, url);
    const isSent = await sendMessage({ kind: 'REDEEM_LINK', appId, mobile: to.mobile, language, text, url });
    return answer(isSent ? 'sent' : 'not-sent');
  });
}
