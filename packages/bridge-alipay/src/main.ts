import { runBridge } from '@perennial/bridge-kit';
import { createAlipayInstitution } from './institution.js';
import { readAlipaySettings } from './settings.js';

await runBridge(async ({ env, clock }) => createAlipayInstitution({ ...(await readAlipaySettings(env)), clock }));
