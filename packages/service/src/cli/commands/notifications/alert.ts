import type { Command } from 'commander';
import type { AlertView } from '../../../alerts/alerts-sql.js';
import type { TestMessageOutcome } from '../../../alerts/test-messages.js';
import { acknowledgeAlert, listAlerts } from '../../../operator/alerts.js';
import { systemClock } from '../../../platform/clock.js';
import { addCommand, type CommandLine, type JsonOption } from '../../frame/command.js';
import type { SafeText } from '../../frame/safe-text.js';
import { table } from '../../frame/table.js';

export function addAlertCommands(program: Command, { perform, performList, settings, show }: CommandLine): void {
  const alert = program.command('alert').description('what a person has to look at');

  addCommand(alert, 'list', 'alerts that are open and that nobody has acknowledged, the latest first', [
    'list',
    'list --all --json',
  ])
    .option('--all', 'those that were acknowledged or have ended too')
    .action(async ({ all = false, ...options }: JsonOption & { readonly all?: boolean }) => {
      await performList(options, (operator) => listAlerts(operator, { all }), alertTable);
    });

  addCommand(alert, 'acknowledge <kind> <subject>', 'put an alert aside until it happens again', [
    'acknowledge refund-refused R100000001000000101',
  ]).action(async (kind: string, subject: string, options: JsonOption) => {
    await perform(
      options,
      (operator) => acknowledgeAlert(operator, { kind, subject }),
      ({ changed, acknowledgedBy, acknowledgedAt }) =>
        changed
          ? `${kind} about ${subject} is acknowledged`
          : `It was acknowledged already, by ${acknowledgedBy} at ${acknowledgedAt}.`,
    );
  });

  addCommand(alert, 'test', 'send a test message by each way that is set, and say what came of it', ['test']).action(
    async (options: JsonOption) => {
      // Loaded here: most commands need neither an HTTP client nor a mailer.
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
  if (items.length === 0) return 'no way is set: see ALERT_WEBHOOK_URL and SMTP_URL';
  return table(
    ['WAY', 'RESULT'],
    items.map(({ way, failure }) => [way.toLowerCase(), failure === null ? 'taken' : `not taken: ${failure}`]),
  );
}

export function alertTable(alerts: readonly AlertView[]): SafeText {
  return table(
    ['KIND', 'SUBJECT', 'DETAIL', 'SEEN', 'FIRST', 'LAST', 'ACKNOWLEDGED', 'RESOLVED'],
    alerts.map((one) => [
      one.kind,
      one.subject,
      one.detail,
      `${one.seen}`,
      one.firstSeenAt,
      one.lastSeenAt,
      one.acknowledgedBy ?? '',
      one.resolvedAt === null ? '' : `${one.resolvedAt}, ${one.resolvedBecause}`,
    ]),
  );
}
