/** An institution and a supplier to try the service against, and the parts of the institution for whoever simulates one. */
export { FAULTS, type FaultName, type FaultOccasion } from './institution/faults.js';
export { InstitutionHandler } from './institution/handler.js';
export { type InstitutionOptions, JOURNAL_FILE, startInstitution } from './institution/institution.js';
export { type Debit, Ledger } from './institution/ledger.js';
export { toDebitMessage } from './institution/results.js';
export { createInstitutionServer } from './institution/server.js';
export { lockFilePath } from './shared/folder-lock.js';
export { PeerError } from './shared/peer-error.js';
export type { ReferenceProgram, ReferenceProgramOptions } from './shared/program.js';
export type { Timers } from './shared/timers.js';
export { SUPPLIER_FAULTS } from './supplier/faults.js';
export { SUPPLIER_OPERATIONS } from './supplier/operations.js';
export { SUPPLIER_JOURNAL, startSupplier } from './supplier/supplier.js';
