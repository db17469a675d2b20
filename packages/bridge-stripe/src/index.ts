export { createStripeInstitution, type StripeSettings } from './institution.js';
