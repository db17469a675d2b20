import { alertText } from '../../alerts/alert-wordings.js';
import { raiseAlert } from '../../alerts/alerts-sql.js';
import { createChannelRegistry } from '../../catalog/channels/channel-registry.js';
import { generateCode } from '../../fulfilment/generated-codes.js';
import { openPoolCodes } from '../../fulfilment/pool-codes.js';
import { takePoolCodes } from '../../fulfilment/pool-codes-sql.js';
import type { Queryable } from '../../platform/db/database.js';
import { hashClaimCode, sealClaimCode, unsealClaimCode } from '../../subscriptions/domain/benefits/claim-code.js';
import { formatClaimNo, formatCodeNo, parseClaimNo } from '../../subscriptions/domain/benefits/claim-numbers.js';
import { nowInWholeSeconds } from '../../subscriptions/steps/benefits/settle-claim.js';
import {
  type ClaimOfOrder,
  lockClaim,
  storeClaimCodes,
  takeBackCode,
} from '../../subscriptions/store/benefits/claims-sql.js';
import { recordLimited } from '../audit/trace-read.js';
import { inTransaction, type Operator, type OperatorWithClock, refusal } from '../operator.js';
import { createNotFound, requireInteger, requireName } from '../rules.js';

interface ClaimInput {
  readonly orderNo: string;
  readonly claimNo: string;
  readonly reason: string;
}

/** Shows the code of a claim to an operator who gives a reason. Records the reason in the audit log first. */
export async function revealCode(operator: Operator, input: ClaimInput) {
  const reason = requireName('the reason', input.reason);
  return inTransaction(operator, async (tx) => {
    const claim = await requireLockedClaim(tx, input);
    const claimNo = formatClaimNo(claim);
    const code = requireCodeOf(claim);
    const channel = await createChannelRegistry(tx, operator.vault).getById(claim.channelId);
    const { actor } = operator;
    const detail = { claimNo, cycleNo: claim.cycleNo, reason };
    await recordLimited(tx, { actor, action: 'code.reveal', subject: input.orderNo, detail });
    return { claimNo, code: unsealClaimCode(channel, claimNo, code) };
  });
}

/**
 * Replaces the code of a claim by another code from the same source. The former code leaves the claim in the
 * transaction in which the claim gets its new code, or begins to wait for it, so a claim never has two codes. `replaced`
 * names the code to replace: the number of codes that were replaced before it. If that code was replaced already,
 * changes nothing, so that a repeated request takes no further code.
 */
export async function replaceCode(operator: OperatorWithClock, input: ClaimInput & { readonly replaced: number }) {
  const reason = requireName('the reason', input.reason);
  const replaced = requireInteger('the code', input.replaced, 0, MAX_REPLACED);
  return inTransaction(operator, async (tx) => {
    const claim = await requireLockedClaim(tx, input);
    const claimNo = formatClaimNo(claim);
    const status = (code: string | null) => (code === null ? ('PENDING' as const) : ('FULFILLED' as const));
    if (claim.replaced > replaced)
      return { claimNo, status: status(claim.code), replaced: claim.replaced, changed: false };
    const former = requireCodeOf(claim);
    if (claim.replaced >= MAX_REPLACED) {
      throw refusal('code-replaced-too-often')`the code of claim ${claimNo} was already replaced ${MAX_REPLACED} times`;
    }
    const { actor } = operator;
    const { orderNo, cycleNo, position, fulfilment } = claim;
    const detail = { claimNo, cycleNo, source: fulfilment, nth: claim.replaced + 1, reason };
    const channel = await createChannelRegistry(tx, operator.vault).getById(claim.channelId);
    const codeHash = hashClaimCode(channel.sealing, unsealClaimCode(channel, claimNo, former));
    await takeBackCode(tx, { orderNo, cycleNo, position, replaced: claim.replaced, codeHash, replacedBy: actor });
    const next = { ...claim, replaced: claim.replaced + 1 };
    const code = await takeCode(operator, tx, next);
    if (code !== undefined) {
      await storeClaimCodes(
        tx,
        [{ ...next, ...sealClaimCode(channel, claimNo, code) }],
        nowInWholeSeconds(operator.clock),
      );
    }
    await recordLimited(tx, { actor, action: 'code.replace', subject: input.orderNo, detail });
    return { claimNo, status: status(code ?? null), replaced: next.replaced, changed: true };
  });
}

const MAX_REPLACED = 99;

/** Takes a code from the claim's source. Returns undefined if the claim has to wait for it. */
async function takeCode({ vault }: Operator, tx: Queryable, claim: ClaimOfOrder): Promise<string | undefined> {
  const { fulfilment, benefitCode } = claim;
  // The engine asks the supplier, under a number that the supplier has not seen before.
  if (fulfilment === 'SUPPLIER') return undefined;
  if (fulfilment === 'GENERATED') return generateCode();
  const [taken] = await takePoolCodes(tx, benefitCode, [formatCodeNo(claim)]);
  if (taken) return (await openPoolCodes(tx, vault)).unseal(benefitCode, taken.sealed);
  await raiseAlert(tx, 'pool-empty', benefitCode, alertText('pool-empty'));
  return undefined;
}

async function requireLockedClaim(tx: Queryable, { orderNo, claimNo }: ClaimInput): Promise<ClaimOfOrder> {
  const benefit = parseClaimNo(claimNo);
  const claim = benefit && String(benefit.orderNo) === orderNo ? await lockClaim(tx, benefit) : undefined;
  if (!claim) throw createNotFound('claim', claimNo);
  return claim;
}

function requireCodeOf(claim: ClaimOfOrder): string {
  if (claim.code !== null) return claim.code;
  throw refusal('code-waits')`claim ${formatClaimNo(claim)} has no code yet`;
}
