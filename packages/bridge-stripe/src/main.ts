import { runBridge } from '@perennial/bridge-kit';
import { createStripeInstitution } from './institution.js';
import { readStripeSettings } from './settings.js';

await runBridge(async ({ env, clock }) => createStripeInstitution({ ...(await readStripeSettings(env)), clock }));
