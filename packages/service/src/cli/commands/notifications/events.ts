import type { Command } from 'commander';
import type { EventRow } from '../../../delivery/history/history-sql.js';
import type { EventWithPushes } from '../../../operator/events.js';
import { OperatorError } from '../../../operator/operator.js';
import { addCommand, type CommandLine, type JsonOption } from '../../frame/command.js';
import { parseWholeNumber } from '../../frame/options.js';
import { paragraphs, type SafeText } from '../../frame/safe-text.js';
import { record, table } from '../../frame/table.js';

// Loaded by the command that needs it: with it come the interface's schemas, which take longer than all the rest.
const loadActions = () => import('../../../operator/events.js');

export function addEventCommands(program: Command, { perform, performList, performWithEngine }: CommandLine): void {
  const events = program.command('events').description('what channels are told, and whether it has arrived');

  addCommand(events, 'list <app-id>', 'events of a channel, newest first', [
    'list test_demo',
    'list test_demo --status GIVE_UP --from 2026-01-31',
    'list test_demo --order 100000001000 --json',
  ])
    .option('--order <order-no>', 'of one order')
    .option('--event <type>', 'order.status.changed or payment.status.changed')
    .option('--status <status>', 'PENDING, DELIVERED, GIVE_UP or NO_CALLBACK')
    .option('--from <time>', 'written at this time or later')
    .option('--to <time>', 'written before this time')
    .option('--limit <n>', 'how many at most (default: 100)', parseWholeNumber)
    .action(async (appId: string, { order, event, ...options }: ListOptions) => {
      const { json: _, ...filter } = options;
      const input = {
        appId,
        ...filter,
        ...(order === undefined ? {} : { orderNo: order }),
        ...(event === undefined ? {} : { eventType: event }),
      };
      await performList(
        options,
        async (operator) => (await loadActions()).listEventsOfChannel(operator, input),
        eventTable,
      );
    });

  addCommand(events, 'show <app-id> <event-id>', 'one event with every push of it', ['show test_demo 4711']).action(
    async (appId: string, eventId: string, options: JsonOption) => {
      await perform(
        options,
        async (operator) => (await loadActions()).showEvent(operator, { appId, eventId }),
        eventText,
      );
    },
  );

  addCommand(events, 'replay <app-id> [event-ids...]', 'send again, under the same eventId', [
    'replay test_demo 4711 4712',
    'replay test_demo --given-up --from 2026-01-31 --to 2026-02-01',
  ])
    .option('--given-up', 'everything that is not sent any more')
    .option('--from <time>', 'of those, what was written at this time or later')
    .option('--to <time>', 'of those, what was written before this time')
    .action(async (appId: string, eventIds: readonly string[], { givenUp, from, to, ...options }: ReplayOptions) => {
      if (eventIds.length > 0 === (givenUp === true)) throw new OperatorError('give either event ids or --given-up');
      if (eventIds.length > 0 && (from !== undefined || to !== undefined)) {
        throw new OperatorError('--from and --to go with --given-up');
      }
      const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
      await performWithEngine(
        options,
        async (operator) => {
          const { replayGivenUpEvents, replayNamedEvents } = await loadActions();
          return givenUp
            ? replayGivenUpEvents(operator, { appId, ...range })
            : replayNamedEvents(operator, { appId, eventIds });
        },
        ({ replayed }) => `${replayed} to be sent again`,
      );
    });

  addCommand(events, 'pause <app-id>', 'hold deliveries back', [
    'pause test_demo',
    'pause test_demo --event order.status.changed',
  ])
    .option('--event <type>', 'of one type (default: *, all)')
    .action(async (appId: string, { event, ...options }: PauseOptions) => {
      const input = { appId, ...(event === undefined ? {} : { eventType: event }) };
      await perform(
        options,
        async (operator) => (await loadActions()).pauseEvents(operator, input),
        ({ changed }) => `deliveries to ${appId} ${changed ? 'are paused' : 'were paused already'} (${event ?? '*'})`,
      );
    });

  addCommand(events, 'resume <app-id>', 'go on with deliveries that were held back', ['resume test_demo'])
    .option('--event <type>', 'as it was paused (default: *, all)')
    .action(async (appId: string, { event, ...options }: PauseOptions) => {
      const input = { appId, ...(event === undefined ? {} : { eventType: event }) };
      await perform(
        options,
        async (operator) => (await loadActions()).resumeEvents(operator, input),
        ({ changed }) => `deliveries to ${appId} ${changed ? 'go on' : 'were not paused'} (${event ?? '*'})`,
      );
    });
}

interface ListOptions extends JsonOption {
  readonly order?: string;
  readonly event?: string;
  readonly status?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit?: number;
}

interface ReplayOptions extends JsonOption {
  readonly givenUp?: boolean;
  readonly from?: string;
  readonly to?: string;
}

interface PauseOptions extends JsonOption {
  readonly event?: string;
}

function eventTable(rows: readonly EventRow[]): SafeText {
  return table(
    ['EVENT', 'TYPE', 'ORDER', 'WRITTEN', 'STATUS', 'PUSHES', 'LAST PUSH'],
    rows.map((row) => [
      idText(row),
      row.eventType,
      row.orderNo,
      row.recordedAt,
      row.deliveryStatus,
      `${row.pushes}`,
      row.lastPushTime ?? '',
    ]),
  );
}

function eventText(event: EventWithPushes): SafeText {
  const facts = record([
    ['Event', idText(event)],
    ['Type', event.eventType],
    ['Order', event.orderNo],
    ['Happened', event.occurredAt],
    ['Written', event.recordedAt],
    ['Status', event.deliveryStatus],
    ['Data', JSON.stringify(event.data)],
  ]);
  const pushes = table(
    ['EVENT', 'RETRY', 'TIME', 'OUTCOME', 'HTTP', 'MS', 'ANSWER'],
    event.attempts.map((push) => [
      push.eventId,
      `${push.retryNo}`,
      push.at,
      push.outcome,
      push.httpStatus === null ? '' : `${push.httpStatus}`,
      `${push.latencyMs}`,
      push.answer ?? '',
    ]),
  );
  return paragraphs([facts, pushes]);
}

function idText({ eventId, lastEventId }: EventRow): string {
  return lastEventId === null ? eventId : `${eventId} to ${lastEventId}`;
}
