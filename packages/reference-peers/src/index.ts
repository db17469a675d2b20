/** A test institution, a test supplier, and parts of the institution for other simulations. */
export { FAULTS, type FaultName, type FaultOccasion } from './institution/faults.js';
export { createInstitutionServer, InstitutionHandler } from './institution/handler.js';
export { type InstitutionOptions, type LedgerView, startInstitution } from './institution/institution.js';
export { type Debit, Ledger, toDebitMessage } from './institution/ledger.js';
export type { ReferenceProgram, ReferenceProgramOptions, Timers } from './peer.js';
export { runInstitution, runSupplier } from './program.js';
export { SUPPLIER_FAULTS, SUPPLIER_OPERATIONS, startSupplier } from './supplier.js';
