import type { Command } from 'commander';
import { acknowledgeAlert, listAlerts } from '../operator/alerts.js';
import type { AlertView } from '../payments/alerts-sql.js';
import { type JsonOption, perform, performList, verb } from './command.js';
import type { Shown } from './shown.js';
import { table } from './table.js';

export function addAlert(program: Command): void {
  const alert = program.command('alert').description('what a person has to look at');

  verb(alert, 'list', 'alerts that nobody has acknowledged, the latest first', ['list', 'list --all --json'])
    .option('--all', 'the acknowledged ones too')
    .action(async ({ all = false, ...options }: JsonOption & { readonly all?: boolean }) => {
      await performList(options, (operator) => listAlerts(operator, { all }), alertTable);
    });

  verb(alert, 'acknowledge <kind> <subject>', 'put an alert aside until it happens again', [
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
}

export function alertTable(alerts: readonly AlertView[]): Shown {
  return table(
    ['KIND', 'SUBJECT', 'DETAIL', 'SEEN', 'FIRST', 'LAST', 'ACKNOWLEDGED'],
    alerts.map((one) => [
      one.kind,
      one.subject,
      one.detail,
      `${one.seen}`,
      one.firstSeenAt,
      one.lastSeenAt,
      one.acknowledgedBy ?? '',
    ]),
  );
}
