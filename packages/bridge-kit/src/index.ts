export type * from './institution.js';
