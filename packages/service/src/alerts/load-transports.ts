import type { Clock } from '../platform/clock.js';
import type { Settings } from '../platform/settings.js';
import type { AlertTransport } from './transport.js';

/** Loads the configured transports only, because loading the others would slow down every start. */
export async function loadAlertTransports(
  { alertWebhook, alertEmail }: Settings,
  clock: Clock,
): Promise<AlertTransport[]> {
  const ways: AlertTransport[] = [];
  if (alertWebhook) ways.push((await import('./webhook-transport.js')).createWebhookTransport(alertWebhook, clock));
  if (alertEmail) ways.push((await import('./email-transport.js')).createEmailTransport(alertEmail));
  return ways;
}
