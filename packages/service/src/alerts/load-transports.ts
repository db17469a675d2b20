import type { Clock } from '../platform/clock.js';
import type { Settings } from '../platform/settings.js';
import type { AlertTransport } from './transport.js';

/** The transports that are set. The others are not loaded, which would make every start slower. */
export async function loadAlertTransports(
  { alertWebhook, alertEmail }: Settings,
  clock: Clock,
): Promise<AlertTransport[]> {
  const ways: AlertTransport[] = [];
  if (alertWebhook) ways.push((await import('./webhook-transport.js')).createWebhookTransport(alertWebhook, clock));
  if (alertEmail) ways.push((await import('./email-transport.js')).createEmailTransport(alertEmail));
  return ways;
}
