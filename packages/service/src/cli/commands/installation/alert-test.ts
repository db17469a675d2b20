import type { Command } from 'commander';
import type { TestMessageOutcome } from '../../../alerts/test-messages.js';
import type { SafeText } from '../../../operations/command/safe-text.js';
import { table } from '../../../operations/command/table.js';
import { systemClock } from '../../../platform/clock.js';
import { addCommand, type CommandLine, type JsonOption } from '../../frame/command.js';

export function addAlertTestCommand(alert: Command, { settings, show }: CommandLine): void {
  addCommand(alert, 'test', 'send a test message by each configured way, and print the results', ['test']).action(
    async (options: JsonOption) => {
      // Loaded lazily, because most commands need neither an HTTP client nor a mailer.
      const { sendTestMessages } = await import('../../../alerts/test-messages.js');
      const items = await sendTestMessages(settings(), systemClock);
      show(
        options,
        { items },
        testOutcomeText,
        () => items.length > 0 && items.every(({ failure }) => failure === null),
      );
    },
  );
}

function testOutcomeText({ items }: { readonly items: readonly TestMessageOutcome[] }): string | SafeText {
  if (items.length === 0) return 'no way to send alerts is configured: set ALERT_WEBHOOK_URL or SMTP_URL';
  return table(
    ['WAY', 'RESULT'],
    items.map(({ way, failure }) => [way.toLowerCase(), failure === null ? 'taken' : `not taken: ${failure}`]),
  );
}
