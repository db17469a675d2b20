import type { Example } from './story/cast.js';
import { CATALOG } from './story/catalog.js';
import { ENDING } from './story/ending.js';
import { EVENTS_OF_THE_STORY } from './story/events.js';
import { MOVING_ON } from './story/moving-on.js';
import { OWN_CHANNEL } from './story/own-channel.js';
import { READING } from './story/reading.js';
import { SELLING } from './story/selling.js';

/**
 * The documented examples in the order in which they are sent: a call uses values from earlier answers. Tests send all
 * examples to a real service.
 */
export const EXAMPLES: readonly Example[] = [
  ...CATALOG,
  ...SELLING,
  ...READING,
  ...MOVING_ON,
  ...EVENTS_OF_THE_STORY,
  ...ENDING,
  ...OWN_CHANNEL,
];
