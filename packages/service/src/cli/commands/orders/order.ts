import { Argument, type Command } from 'commander';
import { type Changed, OperatorError } from '../../../operator/operator.js';
import type { RefundedPeriod } from '../../../operator/orders/refunds.js';
import { addCommand, type CommandLine, type JsonOption, type MoneyText } from '../../frame/command.js';
import { parseWholeNumber } from '../../frame/options.js';
import { type SafeText, safeLines } from '../../frame/safe-text.js';
import { addOrderAdvanceCommand } from './order-advance.js';
import { orderReport } from './order-text.js';

// Loaded by the command that needs them: with them come the interface's schemas, which take longer than all the rest.
const loadView = () => import('../../../operator/orders/show-order.js');
const loadOrders = () => import('../../../operator/orders/orders.js');
const loadRefunds = () => import('../../../operator/approvals/request-refund.js');

const createCycleNoArgument = () =>
  new Argument('<cycle-no>', 'number of the period, from 1').argParser(parseWholeNumber);

export function addOrderCommands(program: Command, commandLine: CommandLine): void {
  const { perform, performWithEngine, settings } = commandLine;
  const order = program.command('order').description('subscriptions of all channels: look, refund, end, try again');

  addCommand(order, 'show [order-no]', 'everything about one order but secrets', [
    'show 100000001000',
    'show --external ORDER-0001 --json',
  ])
    .option('--external <no>', "by the channel's own number instead")
    .action(async (orderNo: string | undefined, { external, ...options }: ShowOptions) => {
      const input = orderNo === undefined ? external && { externalOrderNo: external } : { orderNo };
      if (!input || (orderNo !== undefined && external !== undefined)) {
        throw new OperatorError('give either an order number or --external');
      }
      await perform(options, async (operator) => (await loadView()).showOrder(operator, input), orderReport);
    });

  addCommand(order, 'refund <order-no>', 'give the money of one period back, or a part of it; mode SVC_DEDUCT alone', [
    'refund 100000001000 1',
    'refund 100000001000 1 --amount-cent 490 --key ticket-4711 --note "late delivery"',
    'refund 100000001000 1 --without-approval "finance is away, ticket 4711"',
  ])
    .addArgument(createCycleNoArgument())
    .option('--amount-cent <n>', 'in cents (default: all that is left)', parseWholeNumber)
    .option('--key <text>', 'a name of your own: given again, it is the same refund and not another')
    .option('--note <text>', 'why')
    .option(
      '--without-approval <text>',
      'why nobody else was asked, for one above CONSOLE_REFUND_APPROVAL_CENT: the audit log has it',
    )
    .action(async (orderNo: string, period: number, given: RefundOptions) => {
      const { amountCent, key, note, withoutApproval, ...options } = given;
      const input = {
        orderNo,
        cycleNo: period,
        ...(amountCent === undefined ? {} : { amountCent }),
        ...(key === undefined ? {} : { key }),
        ...(note === undefined ? {} : { note }),
        ...(withoutApproval === undefined ? {} : { withoutApproval }),
      };
      await performWithEngine(
        options,
        async (operator) => (await loadRefunds()).refundAlone(operator, input, settings().refundApprovalCent),
        refundText,
      );
    });

  addCommand(order, 'unsubscribe <order-no>', 'end an active order, with the events about it', [
    'unsubscribe 100000001000 --reason "asked for by phone"',
  ])
    .option('--reason <text>', 'why, kept with the order')
    .action(async (orderNo: string, { reason, ...options }: JsonOption & { readonly reason?: string }) => {
      const input = { orderNo, ...(reason === undefined ? {} : { reason }) };
      await performWithEngine(
        options,
        async (operator) => (await loadOrders()).unsubscribeOrder(operator, input),
        ({ orderStatus, changed }) => `order ${orderNo} ${changed ? 'is' : 'was already'} ${orderStatus}`,
      );
    });

  addCommand(order, 'retry <order-no>', 'try a period that has failed for now at once', ['retry 100000001000 3'])
    .addArgument(createCycleNoArgument())
    .action(async (orderNo: string, period: number, options: JsonOption) => {
      await performWithEngine(
        options,
        async (operator) => (await loadOrders()).retryPeriod(operator, { orderNo, cycleNo: period }),
        ({ changed }) =>
          `period ${period} of order ${orderNo} ${changed ? 'is due now' : 'was due already'}: a running service debits ` +
          'it as soon as its payment channel may be used',
      );
    });

  addOrderAdvanceCommand(order, commandLine);
}

interface ShowOptions extends JsonOption {
  readonly external?: string;
}

interface RefundOptions extends JsonOption {
  readonly amountCent?: number;
  readonly key?: string;
  readonly note?: string;
  readonly withoutApproval?: string;
}

function refundText(
  { refundNo, amountCent, status, cycleNo: period, payment, changed }: Changed<RefundedPeriod>,
  money: MoneyText,
): string | SafeText {
  if (status === 'STARTED') {
    return safeLines([
      `refund ${refundNo} of ${money(amountCent)} is on its way: the institution has not said yet, and is asked again`,
      'No benefit is revoked before it has.',
    ]);
  }
  const sums = `${money(payment.refundAmountCent)} of ${money(payment.amountCent)}`;
  return safeLines([
    `refund ${refundNo}: ${money(amountCent)} is refunded`,
    `period ${period} is ${payment.paymentStatus}, ${sums} in all`,
    ...benefitLines(payment.benefits, money),
    ...(changed ? [] : ['It was so already.']),
  ]);
}

/** The benefits that the refunds of a period have revoked, and those that stay. */
function benefitLines(benefits: RefundedPeriod['payment']['benefits'], money: MoneyText): string[] {
  if (benefits.length === 0) return [];
  const revoked = benefits.filter(({ status }) => status === 'REVOKED');
  const stay = benefits.filter(({ status }) => status !== 'REVOKED');
  const worth = (cents: number) => `(${money(cents)})`;
  const taken = revoked.map((one) => `${one.benefitCode} ${worth(one.faceValueCent)}`).join(', ');
  const left = stay.map((one) => `${one.benefitCode} ${one.status} ${worth(one.faceValueCent)}`).join(', ');
  return [`benefits revoked: ${taken || 'none'}`, ...(left === '' ? [] : [`benefits that stay: ${left}`])];
}
