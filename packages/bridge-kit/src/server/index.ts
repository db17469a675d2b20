/** The signed server alone: what a program needs that speaks the protocol and keeps a book of its own. */
export * from './refusals.js';
export * from './requests.js';
export * from './signed-server.js';
