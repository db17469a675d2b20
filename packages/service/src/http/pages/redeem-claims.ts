import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { claimEach } from '../../redeem/claim-period.js';
import { type FormFields, readFormLink, type SignedLink } from '../../redeem/link.js';
import { benefitText, doneAddress } from '../../redeem/page/addresses.js';
import { CLAIM_ACTION } from '../../redeem/page/parts/claimable-groups.js';
import type { BenefitPosition } from '../../redeem/store/benefits-sql.js';
import { listClaimable, listClaimableOfPeriod } from '../../redeem/store/claimable-sql.js';
import type { Texts } from '../../redeem/texts/en.js';
import { createLinkCheck, type Visit } from '../../redeem/visit.js';
import type { ClaimOutcome } from '../../subscriptions/steps/benefits/claim-benefit.js';
import { redirect } from './redeem-answer.js';
import { readBenefit } from './redeem-asked.js';
import { isToken, type RedeemContext } from './redeem-context.js';
import { MAX_FORM_BYTES } from './redeem-form.js';
import type { RedeemViews } from './redeem-views.js';

/** Adds the forms that claim one benefit, a period's benefits or all benefits. */
export function addClaimForms(
  pages: FastifyInstance,
  { deps, callers, databaseOf, frameOf, readPost, refusePost, wayOf, withPost }: RedeemContext,
  { sendPlace }: RedeemViews,
): void {
  const { clock, limits } = deps;
  const findChannelOf = createLinkCheck(deps);

  const benefitOf = ({ orderNo }: SignedLink, one: BenefitPosition) => ({ orderNo, ...one });

  function claimByItself(
    request: FastifyRequest,
    { channel, link }: Visit,
    one: BenefitPosition,
  ): Promise<ClaimOutcome> {
    const asking = { origin: { requestId: request.id }, caller: callers.get(request) };
    return deps.claim(databaseOf(channel), channel, benefitOf(link, one), asking);
  }

  async function claimOne(request: FastifyRequest, visited: Visit, one: BenefitPosition): Promise<ClaimOutcome> {
    const { channel, link } = visited;
    const benefit = benefitOf(link, one);
    if (await deps.claimTogether(channel, link.channelUserId, benefit, callers.get(request))) return 'CLAIMED';
    return claimByItself(request, visited, one);
  }

  /**
   * Makes the claim in a statement that several requests share, and redirects. Nearly all claims succeed this way.
   * Otherwise returns `counted` if the post already counts against the link's limit, else `post`. The caller then
   * claims step by step, which finds the reason for a refusal.
   */
  async function claimAtOnce(
    request: FastifyRequest,
    reply: FastifyReply,
    fields: FormFields | undefined,
  ): Promise<FastifyReply | 'post' | 'counted'> {
    const link = fields && readFormLink(fields);
    const channel = link && findChannelOf(link);
    const benefit = readBenefit(fields?.get('claim'));
    if (!channel || !benefit || !isToken(fields.get('token'), { channel, link }, CLAIM_ACTION)) return 'post';
    limits.checkLink(link.sig, 'post');
    const caller = callers.get(request);
    if (!(await deps.claimTogether(channel, link.channelUserId, benefitOf(link, benefit), caller))) return 'counted';
    return redirect(reply, doneAddress(wayOf(request), link, readBenefit(fields.get('from')), benefitText(benefit)));
  }

  pages.post('/redeem/claim', { bodyLimit: MAX_FORM_BYTES }, async (request, reply) => {
    const post = readPost(request);
    const answered = await claimAtOnce(request, reply, post);
    if (typeof answered !== 'string') return answered;
    const claim = async (fields: FormFields, visited: Visit) => {
      const benefit = readBenefit(fields.get('claim'));
      if (!benefit || !isToken(fields.get('token'), visited, CLAIM_ACTION)) return refusePost(reply);
      const notice = claimNotice(frameOf(request).texts, await claimByItself(request, visited, benefit));
      const from = fields.get('from');
      if (notice !== undefined) return sendPlace(reply, visited.link, from, notice);
      return redirect(reply, doneAddress(wayOf(request), visited.link, readBenefit(from), benefitText(benefit)));
    };
    return withPost(reply, post, claim, answered);
  });

  pages.post('/redeem/claim-all', { bodyLimit: MAX_FORM_BYTES }, (request, reply) =>
    withPost(reply, readPost(request), async (fields, visited) => {
      const [period] = /^([1-9]\d{0,3}|all)$/.exec(fields.get('period') ?? '') ?? [];
      if (period === undefined || !isToken(fields.get('token'), visited, CLAIM_ACTION)) return refusePost(reply);
      const isEverything = period === 'all';
      const { channel, link } = visited;
      const { channelId } = channel;
      const db = databaseOf(channel);
      const those = await (isEverything
        ? listClaimable(db, channelId, link.orderNo, clock.now())
        : listClaimableOfPeriod(db, channelId, link.orderNo, Number(period), clock.now()));
      await claimEach(those, (one) => claimOne(request, visited, one));
      const place = isEverything ? undefined : readBenefit(fields.get('from'));
      return redirect(reply, doneAddress(wayOf(request), link, place, period));
    }),
  );
}

/** Returns the text about an outcome. Undefined if the page itself shows the code, or says that the code will come. */
function claimNotice(texts: Texts, outcome: ClaimOutcome): string | undefined {
  const notices: Partial<Record<ClaimOutcome, string>> = {
    EXPIRED: texts.claimExpired,
    REVOKED: texts.claimRevoked,
    UNKNOWN: texts.claimUnknown,
  };
  return notices[outcome];
}
