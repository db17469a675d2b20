export { type DeclineKind, parseCurrency } from '@perennial/wire/bridge';
export { BadSetting } from './bad-setting.js';
export { type Bridge, type BridgeOptions, startBridge } from './bridge.js';
export { type Clock, systemClock } from './clock.js';
export { type At, CRASH_POINTS, type CrashPoint } from './flow/numbered-calls.js';
export type * from './institution.js';
export { runBridge, type Surroundings } from './run-bridge.js';
export { BadMessage } from './server/refusals.js';
export { type Env, readSecretFile, requireSetting } from './settings.js';
