import type { Logger } from 'pino';
import { pino } from 'pino';
import { createChannelRegistry } from '../catalog/channels/channel-registry.js';
import { cancelAtInstitutions } from '../engine/recovery/cancellations.js';
import { askAboutPendingClaims } from '../engine/recovery/claims.js';
import { askAboutPendingDebits } from '../engine/recovery/debits.js';
import { askAboutPendingRefunds } from '../engine/recovery/refunds.js';
import type { ClaimToFulfil, Supplier, SupplierOutcome } from '../fulfilment/fulfilment.js';
import { createFulfilmentRegistry, type Fulfilments } from '../fulfilment/fulfilment-registry.js';
import type { OperatorWithGateways } from '../operator/operator.js';
import { createUnsubscriber } from '../redeem/unsubscribe.js';
import { type Claimer, createClaimer } from '../subscriptions/steps/benefits/claim-benefit.js';
import { createBatchSettler, type SettleInBatch } from '../subscriptions/steps/payments/batch-settler.js';
import { type Agenda, createAgenda } from './agenda.js';
import { PEOPLE, type PersonName } from './cast.js';
import { setAddress } from './demo-sql.js';
import { createStoryInstitution, type StoryInstitution } from './institution.js';
import { createInterfaceCalls, type InterfaceCalls } from './interface-calls.js';
import type { Provisioned } from './provision.js';
import { createRandom, type Random } from './random.js';
import type { StoryTime } from './story-time.js';

export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Each has numbers of its own, by what is added to the seed. */
const PARTS = { institution: 1, receivers: 2, calls: 3 };

/** All that the parts of the story share. */
export interface Stage {
  readonly story: StoryTime;
  readonly random: Random;
  readonly agenda: Agenda;
  readonly institution: StoryInstitution;
  readonly calls: InterfaceCalls;
  readonly operator: OperatorWithGateways;
  readonly claim: Claimer;
  readonly leave: ReturnType<typeof createUnsubscriber>;
  readonly jobs: StageJobs;
  /** When the story ends: the present. */
  readonly end: number;
  /** Which telling of the story it is, from 1. */
  readonly telling: number;
  /** Numbers of its own for one part of the story, so that another part does not change them. */
  randomFor(part: keyof typeof PARTS): Random;
  /** One of the people does something, from their own address. */
  by<T>(person: PersonName, act: (operator: OperatorWithGateways) => Promise<T>): Promise<T>;
}

/** The engine's jobs, as far as they can be run for the story alone. */
export interface StageJobs {
  askAboutDebits(paymentChannelCode: string): Promise<unknown>;
  /** What the engine does in the background besides debiting. */
  recoverTheRest(made: Provisioned): Promise<void>;
}

export interface StageOptions {
  readonly story: StoryTime;
  readonly operator: OperatorWithGateways;
  readonly seed: number;
  readonly end: number;
  readonly telling: number;
}

export function createStage({ story, operator: given, seed, end, telling }: StageOptions): Stage {
  const { database, clock } = story;
  const { vault } = given;
  const random = createRandom(seed);
  const institution = createStoryInstitution(clock, createRandom(seed + PARTS.institution));
  const gateways = { of: async () => institution.gateway };
  const log = pino({ level: 'silent' });
  const operator: OperatorWithGateways = { ...given, database, clock, gateways };
  const fulfilments = withStorySupplier(createFulfilmentRegistry({ database, vault, clock, log }));
  const settle: SettleInBatch = createBatchSettler(database, clock);
  const jobDeps = {
    database,
    gateways,
    clock,
    log,
    settle,
    fulfilments,
    channels: createChannelRegistry(database, vault),
  };
  return {
    story,
    random,
    agenda: createAgenda(),
    institution,
    calls: createInterfaceCalls({ story, vault, gateways, log }),
    operator,
    claim: createClaimer({ clock, log: log as Logger, fulfilments }),
    leave: createUnsubscriber(clock),
    jobs: {
      askAboutDebits: (code) => askAboutPendingDebits(jobDeps, code),
      async recoverTheRest({ codes, ticketCode }) {
        for (const code of codes) {
          await askAboutPendingRefunds(jobDeps, code);
          await cancelAtInstitutions(jobDeps, code);
        }
        await askAboutPendingClaims(jobDeps, ticketCode);
      },
    },
    end,
    telling,
    randomFor: (part) => createRandom(seed + PARTS[part]),
    async by(person, act) {
      await setAddress(database, `10.20.0.${10 + Object.keys(PEOPLE).indexOf(person)}`);
      return act({ ...operator, actor: person });
    },
  };
}

/** The supplier is not asked over the network: some claims it answers at the third question, and some it refuses. */
function withStorySupplier(registry: Fulfilments): Fulfilments {
  const asked = new Map<string, { readonly nth: number; times: number }>();
  const answer = async ({ claimNo }: ClaimToFulfil): Promise<SupplierOutcome> => {
    const claim = asked.get(claimNo) ?? { nth: asked.size, times: 0 };
    asked.set(claimNo, claim);
    claim.times += 1;
    if (claim.nth % 8 === 2) return { kind: 'refused', reason: '该场次票券已售罄' };
    if (claim.nth % 8 === 5 && claim.times < 3) return { kind: 'unknown' };
    return { kind: 'fulfilled', code: `MT${claimNo.slice(-8)}` };
  };
  const supplier: Supplier = { kind: 'SUPPLIER', fulfil: answer, query: answer };
  return {
    ...registry,
    async of(tx, benefitCode) {
      const found = await registry.of(tx, benefitCode);
      return found.kind === 'SUPPLIER' ? supplier : found;
    },
    supplierOf: async () => supplier,
  };
}
