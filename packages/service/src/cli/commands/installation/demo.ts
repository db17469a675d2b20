import type { Command } from 'commander';
import type { FilledDemo } from '../../../demo/fill-demo.js';
import type { Changed } from '../../../operator/operator.js';
import { addCommand, type CommandLine, type JsonOption } from '../../frame/command.js';
import { parseWholeNumber } from '../../frame/options.js';
import { type SafeText, safeText } from '../../frame/safe-text.js';
import { table } from '../../frame/table.js';

export function addDemoCommands(program: Command, { performWithEngine, progress }: CommandLine): void {
  const demo = program.command('demo').description('something to look at in a sandbox');

  addCommand(demo, 'fill', 'a month of made-up business: orders in every state; sandbox only', [
    'fill',
    'fill --orders 2000 --seed 7',
  ])
    .option('--orders <n>', 'so many orders, 60 to 5000 (default: 400)', parseWholeNumber)
    .option('--seed <n>', 'the same number makes the same orders (default: 1)', parseWholeNumber)
    .option('--again', 'once more, with channels and products of its own, if it is there already')
    .action(async ({ orders, seed, again, ...options }: FillOptions) => {
      const input = {
        ...(orders === undefined ? {} : { orders }),
        ...(seed === undefined ? {} : { seed }),
        ...(again === undefined ? {} : { again }),
      };
      // Loaded here: nearly all of the service comes with it.
      const { fillDemo } = await import('../../../demo/fill-demo.js');
      await performWithEngine(
        options,
        (operator) => {
          progress(options)('telling a month; this takes up to a minute');
          return fillDemo(operator, input);
        },
        filledText,
      );
    });
}

interface FillOptions extends JsonOption {
  readonly orders?: number;
  readonly seed?: number;
  readonly again?: boolean;
}

function filledText({ appIds, changed, ...counts }: Changed<FilledDemo>): SafeText {
  const channels = appIds.join(', ');
  if (!changed) return safeText`it is there already, in the channels ${channels}; --again adds another`;
  const rows = Object.entries(counts).map(([what, count]) => [what, `${count}`]);
  return safeText`${table(['WHAT', 'HOW MANY'], rows)}\n\nin the channels ${channels}`;
}
