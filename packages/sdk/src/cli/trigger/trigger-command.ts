import {
  EVENT_CONTRACT,
  type EventScenario,
  type EventScenarioName,
  type MainOrder,
  settlementModes,
} from '@perennial/wire';
import { Argument, Option, type OptionValues } from 'commander';
import type { EventRecord } from '../../bodies.js';
import type { PerennialClient } from '../../client.js';
import { createClient, readChannel } from '../channel-file.js';
import { showAnswer } from '../endpoints/show-answer.js';
import type { Call, CommandFacts } from '../frame/command.js';
import { EXIT, type Io, UsageError } from '../frame/io.js';
import { align, visible, writeJson } from '../frame/text.js';
import { describeEvent } from '../pushes/describe-event.js';
import { createNewOrder } from './new-order.js';
import { isCollected, SCENARIOS, type Scenario } from './scenarios.js';

export const TRIGGER: CommandFacts = {
  name: 'trigger',
  summary: 'Trigger a failed payment, a refund or another scenario for an order, with its events (sandbox only)',
  argument: new Argument('[scenario]').choices(SCENARIOS.map(({ name }) => name)),
  options: [
    new Option('--order <no>', 'number of the order; default: a new order'),
    new Option('--settlement-mode <mode>', 'who collects the money of the new order; default SVC_DEDUCT').choices(
      settlementModes,
    ),
    new Option('--product-code <code>', 'product of the new order; default: the first suitable one'),
    new Option('--list', 'only list the scenarios with their events'),
  ],
  notes: `Scenarios:\n${align(
    SCENARIOS.map(({ name, summary }) => [name, summary]),
    '  ',
  )}`,
  examples: [
    'trigger payment-recovered',
    'trigger refund --order 100000001000',
    'trigger unsubscribed --settlement-mode CHANNEL_COLLECT',
    'trigger --list',
  ],
  run: trigger,
};

async function trigger(call: Call): Promise<number> {
  const { io, given, words } = call;
  if (given['list']) return printScenarios(io, given['json'] === true);
  const scenario = SCENARIOS.find(({ name }) => name === words[0]);
  if (scenario === undefined) throw new UsageError('name a scenario: trigger --list shows them');
  const client = createClient(call.io, readChannel(call), { onResponse: createRetryReporter(io) });
  const before = await findOrder(client, scenario, given);
  // The ids of events from before the scenario, which are not shown. A new order has none: its creation is shown too.
  const known = new Set(before.isNew ? [] : (await listEvents(client, before.order)).map(({ eventId }) => eventId));
  await scenario.act?.(client, before.order);
  const order = await client.orders.query({ orderNo: before.order.orderNo });
  const events = (await listEvents(client, order)).filter(({ eventId }) => !known.has(eventId));
  const isB = isCollected(order);
  if (given['json']) {
    const contract = (isB ? scenario.contract.b : scenario.contract.a) ?? [];
    io.out(
      writeJson({
        scenario: scenario.name,
        isNew: before.isNew,
        order,
        events,
        contract,
        later: scenario.later ?? null,
      }),
    );
  } else {
    io.out(describeOutcome(scenario, before.isNew, order, events));
  }
  return EXIT.ok;
}

/** Returns the order named on the command line, or a new order. Throws if the options do not fit the scenario. */
async function findOrder(
  client: PerennialClient,
  scenario: Scenario,
  given: OptionValues,
): Promise<{ order: MainOrder; isNew: boolean }> {
  const { order: orderNo, settlementMode = 'SVC_DEDUCT', productCode } = given;
  if (orderNo === undefined) {
    if (settlementMode === 'CHANNEL_COLLECT' && scenario.contract.b === undefined) {
      throw new UsageError(`${scenario.name} is not possible for an order that the channel collects (mode B)`);
    }
    const { creates: suffix, hasOnePeriod } = scenario;
    const order = await createNewOrder(client, { settlementMode, productCode, suffix, hasOnePeriod });
    return { order, isNew: true };
  }
  if (scenario.creates !== undefined) {
    throw new UsageError(`${scenario.name} creates its own order: omit --order`);
  }
  const order = await client.orders.query({ orderNo });
  return { order, isNew: false };
}

/** Lists events, oldest first. Periods that were voided together are one record. */
async function listEvents(client: PerennialClient, { orderNo }: MainOrder): Promise<EventRecord[]> {
  const events: EventRecord[] = [];
  for await (const event of client.events.listAll({ orderNo })) events.push(event);
  return events.reverse();
}

function describeOutcome(scenario: Scenario, isNew: boolean, order: MainOrder, events: readonly EventRecord[]): string {
  return [
    `${scenario.name}: ${scenario.summary}`,
    `order ${visible(order.orderNo)}${isNew ? ' (new)' : ''}`,
    showAnswer(order),
    events.length === 0 ? 'no events' : `events\n${align(events.map(describeRecord), '  ')}`,
    ...(scenario.later === undefined ? [] : [`later: ${scenario.later}`]),
  ].join('\n');
}

function describeRecord(record: EventRecord): string[] {
  const { eventId, lastEventId } = record;
  return [lastEventId === null ? eventId : `${eventId} to ${lastEventId}`, ...describeEvent(record)];
}

function printScenarios(io: Io, isJson: boolean): number {
  const rows = SCENARIOS.map(({ name, summary, contract }) => ({ name, summary, contract }));
  if (isJson) io.out(writeJson(rows));
  else {
    const lines = SCENARIOS.map(({ name, summary, contract }) => {
      const events = [...contract.a, ...(contract.b ?? [])].map((one) => `    ${describeContract(one)}`);
      return [`${name}: ${summary}${contract.b ? '' : ' (mode A)'}`, ...events].join('\n');
    });
    io.out(lines.join('\n'));
  }
  return EXIT.ok;
}

function describeContract(scenario: EventScenarioName): string {
  const { settlementMode, when, events, perVoidedPeriod } = CONTRACT[scenario];
  const told = events.map(({ eventType, status }) => `${eventType.split('.')[0]} ${status}`);
  const each = perVoidedPeriod ? ['payment CANCELED for each voided period'] : [];
  return `${settlementMode === 'SVC_DEDUCT' ? 'A' : 'B'}: ${when}: ${[...told, ...each].join(', ') || 'none'}`;
}

const CONTRACT = Object.fromEntries(EVENT_CONTRACT.map((row) => [row.name, row])) as Record<
  EventScenarioName,
  EventScenario
>;

/** Returns a listener that reports requests which are retried after a delay. */
function createRetryReporter(io: Io) {
  return ({ endpoint, againAfterMs }: { endpoint: string; againAfterMs: number | undefined }) => {
    if (againAfterMs !== undefined && againAfterMs > 0) io.err(`${endpoint} is retried in ${againAfterMs / 1000} s`);
  };
}
