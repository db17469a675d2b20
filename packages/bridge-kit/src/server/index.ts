/** The signed server alone, for programs that use the protocol with their own records. */
export * from './refusals.js';
export * from './requests.js';
export * from './signed-server.js';
