import type { Command } from 'commander';
import type { Changed } from '../../operator/operator.js';
import type { AdvancedOrder } from '../../operator/orders/order-advance.js';
import { type CommandLine, type JsonOption, verb } from '../frame/command.js';
import { collect, wholeNumber } from '../frame/options.js';
import { type Shown, shown } from '../frame/shown.js';
import { table } from '../frame/table.js';

export function addOrderAdvance(order: Command, { performWithEngine }: CommandLine): void {
  verb(order, 'advance <order-no>', 'run the next periods now, as if their time had come; sandbox only', [
    'advance 100000001000 --cycles 11',
    'advance 100000001000 --cycles 2 --outcome FAIL_RETRY,SUCCESS',
    'advance 100000001000 --to "2027-12-31 23:59:59"',
  ])
    .option('--cycles <n>', 'so many periods', wholeNumber)
    .option('--to <time>', 'or everything that is due up to this time')
    .option(
      '--outcome <outcome>',
      'SUCCESS, FAIL_RETRY, FAIL or AGREEMENT_INVALID, one for each period in turn',
      collect,
    )
    .action(async (orderNo: string, { cycles, to, outcome, ...options }: AdvanceOptions) => {
      const input = {
        orderNo,
        ...(cycles === undefined ? {} : { cycles }),
        ...(to === undefined ? {} : { to }),
        ...(outcome === undefined ? {} : { outcomes: outcome }),
      };
      // Loaded here: the interface's schemas come with it.
      const { advanceOrder } = await import('../../operator/orders/order-advance.js');
      await performWithEngine(options, (operator) => advanceOrder(operator, input), advanceText);
    });
}

interface AdvanceOptions extends JsonOption {
  readonly cycles?: number;
  readonly to?: string;
  readonly outcome?: readonly string[];
}

function advanceText({ orderNo, orderStatus, nextPayTime, steps, changed }: Changed<AdvancedOrder>): Shown {
  const end = shown`order ${orderNo} is ${orderStatus}, next payment ${nextPayTime ?? 'none'}`;
  if (!changed) return shown`nothing was due\n${end}`;
  const rows = steps.map((step) => [
    step.occurredAt,
    step.cycleNo === null ? '' : `${step.cycleNo}`,
    step.paymentStatus ?? '',
    step.orderStatus,
  ]);
  return shown`${table(['WHEN', 'PERIOD', 'STATUS', 'ORDER'], rows)}\n\n${end}`;
}
