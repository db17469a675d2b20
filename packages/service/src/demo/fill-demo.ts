import { findChannel } from '../catalog/channels/channels-sql.js';
import { floorToDay, floorToHour } from '../figures/figures.js';
import { countOrders, type Hours, writeDays, writeHours } from '../figures/write-figures-sql.js';
import { acknowledgeAlert } from '../operator/alerts.js';
import { recordAudit } from '../operator/audit.js';
import { pauseEvents } from '../operator/events.js';
import { type Changed, OperatorError, type OperatorWithGateways } from '../operator/operator.js';
import { retryPeriod } from '../operator/orders/orders.js';
import { requireInteger } from '../operator/rules.js';
import { resolveAlert } from '../platform/alerts/alerts-sql.js';
import { resolveEndedAlerts } from '../platform/alerts/resolve-sql.js';
import { planReconciliations } from './books.js';
import { ALERT_COMMENTS, CHANNELS, PEOPLE, type PersonName } from './cast.js';
import { deliverEvents, type Pause } from './deliveries.js';
import {
  commentAlert,
  countFilled,
  expireBenefits,
  type FilledCounts,
  findOpenAlerts,
  findWaitingPeriods,
  insertBulkRun,
  insertPerson,
  type StoryBulkItem,
  stampHistory,
  stampPauses,
} from './demo-sql.js';
import { createOrderDesk, type OrderDesk, type PlacedOrder } from './orders.js';
import { appIdOf, importCoffeeCodes, type Provisioned, provisionStory, type StagedChannel } from './provision.js';
import { logRequests } from './requests.js';
import { type Act, chooseProduct, SCENES, type Scene } from './scenes.js';
import { createStage, DAY_MS, HOUR_MS, MINUTE_MS, type Stage } from './stage.js';
import { inStoryTime } from './story-time.js';
import { createSubscribers } from './subscribers.js';

export interface FillDemoInput {
  /** How many orders. Unset: 400. */
  readonly orders?: number;
  /** The same seed makes the same story. Unset: 1. */
  readonly seed?: number;
  /** Once more, with channels and products of its own, if it is there already. */
  readonly again?: boolean;
}

export interface FilledDemo extends FilledCounts {
  readonly appIds: readonly string[];
}

/** Fewer would not show everything. */
const MIN_ORDERS = 60;
const MAX_ORDERS = 5_000;
const MAX_TELLINGS = 9;
/** When the channels were set up: older orders than most are among theirs. */
const OPENED_DAYS_AGO = 130;

/**
 * Fills a sandbox with a month of business: channels, products, orders in every state, and what came of them. Each order went
 * through the steps of the service itself, at its own time. All of it is committed together or not at all.
 */
export async function fillDemo(
  operator: OperatorWithGateways,
  input: FillDemoInput = {},
): Promise<Changed<FilledDemo>> {
  if (operator.environment !== 'sandbox') {
    throw new OperatorError('only a sandbox is filled: what is made up has no place among real orders');
  }
  const orders = requireInteger('the number of orders', input.orders ?? 400, MIN_ORDERS, MAX_ORDERS);
  const seed = requireInteger('the seed', input.seed ?? 1, 0, 2 ** 31 - 1);
  const end = operator.clock.now();
  return inStoryTime(operator.database, end - OPENED_DAYS_AGO * DAY_MS, async (story) => {
    const telling = await countTellings(story.database);
    if (telling > 0 && !input.again) return describeEarlier(telling);
    if (telling === MAX_TELLINGS) throw new OperatorError(`it was filled ${MAX_TELLINGS} times: that is enough`);
    const stage = createStage({ story, operator, seed, end, telling: telling + 1 });
    const told = await tell(stage, orders);
    const detail = { orders, seed };
    const [subject = ''] = told.appIds;
    await recordAudit(story.database, { actor: operator.actor, action: 'demo.fill', subject, detail });
    return told;
  });
}

async function countTellings(db: Stage['story']['database']): Promise<number> {
  for (let telling = 1; telling <= MAX_TELLINGS; telling += 1) {
    const [first] = CHANNELS;
    if (!first || !(await findChannel(db, appIdOf(first, telling)))) return telling - 1;
  }
  return MAX_TELLINGS;
}

const NOTHING: FilledCounts = {
  orders: 0,
  periods: 0,
  refunds: 0,
  claims: 0,
  events: 0,
  pushes: 0,
  alerts: 0,
  differences: 0,
};

function describeEarlier(telling: number): Changed<FilledDemo> {
  return { ...NOTHING, appIds: CHANNELS.map((one) => appIdOf(one, telling)), changed: false };
}

async function tell(stage: Stage, orderCount: number): Promise<Changed<FilledDemo>> {
  const { story, end } = stage;
  const from = story.clock.now();
  const foreignAlerts = new Set((await findOpenAlerts(story.database, 0, end)).map(nameOfAlert));
  await welcomePeople(stage);
  const made = await stage.by('eli', (operator) => provisionStory(operator, stage.telling));
  const desk = createOrderDesk(stage, made);
  const orders: PlacedOrder[] = [];
  planOrders(stage, desk, made.channels, orderCount, (order) => orders.push(order));
  planChores(stage, made, foreignAlerts);
  planReconciliations(stage, made);
  planBulkWork(stage, desk, made, orders);
  const pause = planPause(stage, made);
  await tellToTheEnd(stage);
  await stage.jobs.recoverTheRest(made);
  await expireBenefits(story.database, made.channelIds);
  await stampHistory(story.database, made.channelIds);
  await deliverEvents(stage, made, pause);
  await logRequests(stage, made, orders);
  await countFigures(story.database, { from, to: end });
  await resolveEndedAlerts(story.database);
  const counts = await countFilled(story.database, { channelIds: made.channelIds, codes: made.codes, from, to: end });
  return { ...counts, appIds: made.channels.map(({ appId }) => appId), changed: true };
}

/** As the engine's job would bit by bit: the hours of the story lie before its marks. */
async function countFigures(tx: Stage['story']['database'], { from, to }: Hours): Promise<void> {
  await writeHours(tx, { from: floorToHour(from), to: floorToHour(to) + HOUR_MS });
  await writeDays(tx, { from: floorToDay(from), to: floorToDay(to) + DAY_MS });
  await countOrders(tx, floorToDay(to) + DAY_MS);
}

async function tellToTheEnd({ story, agenda, end }: Stage): Promise<void> {
  for (let entry = agenda.next(end); entry; entry = agenda.next(end)) {
    await story.moveTo(entry.time);
    await entry.act();
  }
  await story.moveTo(end);
}

async function welcomePeople({ story, random, end }: Stage): Promise<void> {
  for (const { name, role } of Object.values(PEOPLE)) {
    const lastSignInAt = end - random.between(10, 3 * 24 * 60) * MINUTE_MS;
    await insertPerson(story.database, { name, role, lastSignInAt, createdBy: 'eli' });
  }
}

/** Which channel each order of ten is of. */
function spreadChannels(channels: readonly StagedChannel[]): StagedChannel[] {
  const left = channels.map((staged) => ({ staged, share: staged.share }));
  const spread: StagedChannel[] = [];
  while (left.some(({ share }) => share > 0)) {
    for (const one of left) {
      if (one.share > 0) spread.push(one.staged);
      one.share -= 1;
    }
  }
  return spread;
}

function planOrders(
  stage: Stage,
  desk: OrderDesk,
  channels: readonly StagedChannel[],
  count: number,
  onPlaced: (order: PlacedOrder) => void,
): void {
  const subscribers = createSubscribers(stage);
  const round: readonly Scene[] = SCENES.flatMap((scene) => Array.from({ length: scene.times }, () => scene));
  const spread = spreadChannels(channels);
  const seen = new Map<Scene, number>();
  for (let index = 0; index < count; index += 1) {
    const scene = round[index % round.length];
    const staged = spread[index % spread.length];
    if (!scene || !staged) throw new Error('there are scenes and channels');
    const nth = seen.get(scene) ?? 0;
    seen.set(scene, nth + 1);
    const product = chooseProduct(scene, staged, stage, nth);
    const act: Act = { stage, desk, product, nth };
    const mode = scene.modes[nth % scene.modes.length] ?? 'bound';
    stage.agenda.at(Math.min(scene.createdAt(act), stage.end - MINUTE_MS), async () => {
      const firstCard = scene.firstCard?.(act);
      const order = await desk.place({
        staged,
        product,
        // A product may be sold in one mode alone.
        mode: mode === 'collected' && (product === 'yearly' || product === 'trial') ? 'bound' : mode,
        user: subscribers.next(staged, firstCard === undefined ? 'anybody' : 'somebody-new'),
        fate: scene.fate?.(act) ?? (() => ({ kind: 'paid' })),
        firstCard,
        claims: scene.unclaimed !== true,
      });
      onPlaced(order);
      scene.afterwards?.(order, act);
    });
  }
}

/** Codes that are bought at a time. */
const CODES_PER_FILE = 30;

/** What is done every day: the jobs of the night, new codes for the pool, and a look at the alerts. */
function planChores(stage: Stage, made: Provisioned, foreignAlerts: ReadonlySet<string>): void {
  const { agenda, story, random, end, by } = stage;
  const start = story.clock.now();
  agenda.at(start + HOUR_MS, () =>
    by('chen', (operator) => importCoffeeCodes(operator, made.coffeeCode, CODES_PER_FILE)),
  );
  for (let at = start + DAY_MS; at < end; at += DAY_MS) {
    agenda.at(at, () => stage.jobs.recoverTheRest(made));
    agenda.at(at + 20 * MINUTE_MS, async () => {
      const open = await findOpenAlerts(story.database, 0, story.clock.now() - 6 * HOUR_MS);
      for (const alert of open.filter((one) => !foreignAlerts.has(nameOfAlert(one)))) {
        if (alert.kind === 'pool-empty') {
          await by('chen', (operator) => importCoffeeCodes(operator, made.coffeeCode, CODES_PER_FILE));
          await resolveAlert(story.database, 'pool-empty', alert.subject, 'every claim has its code');
          continue;
        }
        const who: PersonName = random.chance(0.5) ? 'ann' : 'bo';
        if (random.chance(0.3)) await commentAlert(story.database, alert, who, random.pick(ALERT_COMMENTS));
        if (random.chance(0.25)) await by(who, (operator) => acknowledgeAlert(operator, alert));
      }
    });
  }
}

const nameOfAlert = ({ kind, subject }: { readonly kind: string; readonly subject: string }) => `${kind} ${subject}`;

/** Many are done at once: one run is over, and one was prepared and not started. */
function planBulkWork(stage: Stage, desk: OrderDesk, made: Provisioned, orders: readonly PlacedOrder[]): void {
  const { agenda, story, end, by } = stage;
  agenda.at(end - 90 * MINUTE_MS, async () => {
    const items: StoryBulkItem[] = [];
    for (const { orderNo, cycleNo, amountCent } of (await findWaitingPeriods(story.database, made.channelIds)).slice(
      0,
      3,
    )) {
      await by('bo', (operator) => retryPeriod(operator, { orderNo: String(orderNo), cycleNo }));
      const order = orders.find((one) => one.orderNo === orderNo);
      if (order) await desk.planNextStep(order);
      items.push({ subject: `${orderNo}-${cycleNo}`, orderNo, amountCent, status: 'DONE', result: 'due at once' });
    }
    const filter = { status: 'FAIL_RETRY', reason: '账户余额不足' };
    const run = { kind: 'RETRY', status: 'DONE', key: `run-${stage.telling}-1`, filter, by: 'bo', items } as const;
    await insertBulkRun(story.database, { ...run, reason: 'salaries are paid on the fifteenth' });
  });
  agenda.at(end - 15 * MINUTE_MS, async () => {
    const waiting = await findWaitingPeriods(story.database, made.channelIds);
    const items = waiting.map(({ orderNo, cycleNo, amountCent }): StoryBulkItem => {
      return { subject: `${orderNo}-${cycleNo}`, orderNo, amountCent, status: 'WAITING', result: null };
    });
    const filter = { status: 'FAIL_RETRY' };
    const run = { kind: 'RETRY', status: 'PREPARED', key: `run-${stage.telling}-2`, filter, by: 'ann', items } as const;
    await insertBulkRun(story.database, { ...run, reason: '银行系统维护已结束' });
  });
}

/** A channel has asked that its payment events be held back while it moves to another address. */
function planPause({ agenda, story, end, by }: Stage, { channels, channelIds }: Provisioned): Pause {
  const since = end - 2 * HOUR_MS;
  const appId = channels.find(({ receiver }) => receiver === 'away-for-hours')?.appId ?? '';
  agenda.at(since, async () => {
    await by('eli', (operator) => pauseEvents(operator, { appId, eventType: 'payment.status.changed' }));
    await stampPauses(story.database, channelIds);
  });
  return { appId, since };
}
