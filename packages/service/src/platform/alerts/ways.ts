import type { Clock } from '../clock.js';
import type { Settings } from '../settings.js';
import type { AlertWay } from './way.js';

/** Those that are set; the others are not even loaded, which is part of every start. */
export async function alertWays({ alertWebhook, alertEmail }: Settings, clock: Clock): Promise<AlertWay[]> {
  const ways: AlertWay[] = [];
  if (alertWebhook) ways.push((await import('./webhook.js')).webhookWay(alertWebhook, clock));
  if (alertEmail) ways.push((await import('./email.js')).emailWay(alertEmail));
  return ways;
}
