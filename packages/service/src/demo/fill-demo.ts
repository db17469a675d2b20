import { setTimeout as delay } from 'node:timers/promises';
import { alertText } from '../alerts/alert-wordings.js';
import { resolveAlert } from '../alerts/alerts-sql.js';
import { resolveEndedAlerts } from '../alerts/resolve-sql.js';
import { findChannel } from '../catalog/channels/channels-sql.js';
import { FIGURES_JOB, FIGURES_SINCE_JOB, floorToDay, floorToHour } from '../figures/figures.js';
import {
  countOrders,
  type Hours,
  lockFigures,
  readMarks,
  storeMark,
  writeDays,
  writeHours,
} from '../figures/write-figures-sql.js';
import { acknowledgeAlert, commentOnAlert, setAlertOwner } from '../operator/alerts.js';
import { recordAudit } from '../operator/audit.js';
import { prepareRun, startRun } from '../operator/bulk/bulk-runs.js';
import { workOffRuns } from '../operator/bulk/work-off.js';
import { pauseEvents } from '../operator/events.js';
import { type Changed, OperatorError, type OperatorWithGateways } from '../operator/operator.js';
import { formatPeriodSubject } from '../operator/orders/period-subjects.js';
import { requireInteger } from '../operator/rules.js';
import { planReconciliations } from './books.js';
import { ALERT_COMMENTS, CHANNELS, PEOPLE, type PersonName } from './cast.js';
import { deliverEvents, type Pause } from './deliveries.js';
import {
  countFilled,
  expireBenefits,
  type FilledCounts,
  findOpenAlerts,
  findWaitingPeriods,
  hasOtherRuns,
  insertPerson,
  type StoryAlert,
  setAddress,
  silenceAlerts,
  stampHistory,
  stampPauses,
  type WaitingPeriod,
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
  await welcomePeople(stage);
  const made = await stage.by('eli', (operator) => provisionStory(operator, stage.telling));
  const desk = createOrderDesk(stage, made);
  const orders: PlacedOrder[] = [];
  planOrders(stage, desk, made.channels, orderCount, (order) => orders.push(order));
  planChores(stage, made);
  planReconciliations(stage, made);
  planBulkWork(stage, desk, made, orders);
  const pause = planPause(stage, made);
  await tellToTheEnd(stage);
  await stage.jobs.recoverTheRest(made);
  await expireBenefits(story.database, made.channelIds);
  await stampHistory(story.database, made.channelIds);
  await deliverEvents(stage, made, pause);
  await logRequests(stage, made, orders);
  const counts = await countFilled(story.database, made);
  await silenceAlerts(story.database);
  await resolveEndedAlerts(story.database);
  await countFigures(story.database, { from, to: end });
  await setAddress(story.database, '');
  return { ...counts, appIds: made.channels.map(({ appId }) => appId), changed: true };
}

const LOOK_AGAIN_MS = 100;
const MAX_LOOKS = 200;

/** As the engine's job would bit by bit, with its marks: they say as of when the figures are. */
async function countFigures(tx: Stage['story']['database'], { from, to }: Hours): Promise<void> {
  // The job of a running service may be at it, for some seconds.
  for (let looks = 1; !(await lockFigures(tx)); looks += 1) {
    if (looks === MAX_LOOKS) throw new OperatorError('the figures are being counted by a running service: try again');
    await delay(LOOK_AGAIN_MS);
  }
  const { since } = await readMarks(tx);
  const first = floorToHour(from);
  await writeHours(tx, { from: first, to: floorToHour(to) + HOUR_MS });
  await writeDays(tx, { from: floorToDay(from), to: floorToDay(to) + DAY_MS });
  await countOrders(tx, floorToDay(to) + DAY_MS);
  await storeMark(tx, FIGURES_JOB, to);
  await storeMark(tx, FIGURES_SINCE_JOB, Math.min(since ?? first, first));
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
function planChores(stage: Stage, made: Provisioned): void {
  const { agenda, story, random, end, by } = stage;
  const start = story.clock.now();
  agenda.at(start + HOUR_MS, () =>
    by('chen', (operator) => importCoffeeCodes(operator, made.coffeeCode, CODES_PER_FILE)),
  );
  for (let at = start + DAY_MS; at < end; at += DAY_MS) {
    agenda.at(at, () => stage.jobs.recoverTheRest(made));
    agenda.at(at + 20 * MINUTE_MS, async () => {
      for (const alert of await findOpenAlerts(story.database, story.clock.now() - 6 * HOUR_MS)) {
        if (alert.kind === 'pool-empty') {
          await by('chen', (operator) => importCoffeeCodes(operator, made.coffeeCode, CODES_PER_FILE));
          await resolveAlert(story.database, 'pool-empty', alert.subject, alertText('pool-empty|resolved'));
          continue;
        }
        const who: PersonName = random.chance(0.5) ? 'ann' : 'bo';
        if (random.chance(0.15)) await by(who, (operator) => lookAfter(operator, alert, random.pick(ALERT_COMMENTS)));
        if (random.chance(0.1)) await by(who, (operator) => acknowledgeAlert(operator, alert));
      }
    });
  }
}

async function lookAfter(operator: OperatorWithGateways, alert: StoryAlert, text: string): Promise<void> {
  await setAlertOwner(operator, { ...alert, owner: operator.actor });
  await commentOnAlert(operator, { ...alert, text });
}

/** Many are done at once: one run was started, whose results the engine follows, and one was prepared and not started. */
function planBulkWork(stage: Stage, desk: OrderDesk, made: Provisioned, orders: readonly PlacedOrder[]): void {
  const { agenda, story, operator, end, telling, by } = stage;
  const findWaiting = () => findWaitingPeriods(story.database, made.channelIds);
  const prepare = (who: 'ann' | 'bo', waiting: readonly WaitingPeriod[], reason: string) => {
    const items = waiting.map(({ orderNo, cycleNo }) => formatPeriodSubject(orderNo, cycleNo));
    const asked = { kind: 'RETRY', items, reason, key: `retry-${telling}` };
    return by(who, (person) => prepareRun(person, asked, PEOPLE[who].role));
  };
  agenda.at(end - 90 * MINUTE_MS, async () => {
    const waiting = (await findWaiting()).slice(0, 3);
    if (waiting.length === 0 || (await hasOtherRuns(story.database))) return;
    const run = await prepare('bo', waiting, 'salaries are paid on the fifteenth');
    await by('bo', (person) => startRun(person, run, PEOPLE.bo.role));
    await workOffRuns(operator);
    for (const order of orders.filter(({ orderNo }) => waiting.some((one) => one.orderNo === orderNo))) {
      await desk.planNextStep(order);
    }
  });
  agenda.at(end - 15 * MINUTE_MS, async () => {
    const waiting = await findWaiting();
    if (waiting.length > 0) await prepare('ann', waiting, '银行系统维护已结束');
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
