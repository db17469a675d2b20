export { type AlipayOptions, createAlipayInstitution } from './institution.js';
export { readPrivateKey, readPublicKey } from './keys.js';
export { readAlipaySettings } from './settings.js';
