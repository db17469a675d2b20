import type { Clock } from '../clock.js';
import type { Settings } from '../settings.js';
import { emailWay } from './email.js';
import type { AlertWay } from './way.js';
import { webhookWay } from './webhook.js';

/** Those that are set. */
export function alertWays({ alertWebhook, alertEmail }: Settings, clock: Clock): AlertWay[] {
  return [...(alertWebhook ? [webhookWay(alertWebhook, clock)] : []), ...(alertEmail ? [emailWay(alertEmail)] : [])];
}
