import type { Command } from 'commander';
import type { Changed } from '../../../operator/operator.js';
import type { AdvancedOrder } from '../../../operator/orders/advance-order.js';
import { addCommand, type CommandLine, type JsonOption } from '../../frame/command.js';
import { appendList, parseWholeNumber } from '../../frame/options.js';
import { type SafeText, safeText } from '../../frame/safe-text.js';
import { table } from '../../frame/table.js';

export function addOrderAdvanceCommand(order: Command, { performWithEngine }: CommandLine): void {
  addCommand(order, 'advance <order-no>', 'run the next periods now, as if their time had come; sandbox only', [
    'advance 100000001000 --cycles 11',
    'advance 100000001000 --cycles 2 --outcome FAIL_RETRY,SUCCESS',
    'advance 100000001000 --to "2027-12-31 23:59:59"',
  ])
    .option('--cycles <n>', 'so many periods', parseWholeNumber)
    .option('--to <time>', 'or everything that is due up to this time')
    .option(
      '--outcome <outcome>',
      'SUCCESS, FAIL_RETRY, FAIL or AGREEMENT_INVALID, one for each period in turn',
      appendList,
    )
    .action(async (orderNo: string, { cycles, to, outcome, ...options }: AdvanceOptions) => {
      const input = {
        orderNo,
        ...(cycles === undefined ? {} : { cycles }),
        ...(to === undefined ? {} : { to }),
        ...(outcome === undefined ? {} : { outcomes: outcome }),
      };
      // Loaded here: the interface's schemas come with it.
      const { advanceOrderOfAnyChannel } = await import('../../../operator/orders/advance-order.js');
      await performWithEngine(options, (operator) => advanceOrderOfAnyChannel(operator, input), advanceText);
    });
}

interface AdvanceOptions extends JsonOption {
  readonly cycles?: number;
  readonly to?: string;
  readonly outcome?: readonly string[];
}

function advanceText({ orderNo, orderStatus, nextPayTime, steps, changed }: Changed<AdvancedOrder>): SafeText {
  const end = safeText`order ${orderNo} is ${orderStatus}, next payment ${nextPayTime ?? 'none'}`;
  if (!changed) return safeText`nothing was due\n${end}`;
  const rows = steps.map((step) => [
    step.occurredAt,
    step.cycleNo === null ? '' : `${step.cycleNo}`,
    step.paymentStatus ?? '',
    step.orderStatus,
  ]);
  return safeText`${table(['WHEN', 'PERIOD', 'STATUS', 'ORDER'], rows)}\n\n${end}`;
}
