/** PostgreSQL from npm packages, in its own folder. The entry point is openEmbedded. */
export { type EmbeddedDatabase, type EmbeddedOptions, FolderInUse, openEmbedded } from './embedded.js';
export { EmbeddedPostgresError } from './error.js';
export { holdsDatabase } from './folder.js';
