/** PostgreSQL brought along in npm packages, in a folder of its own. One way in: openEmbedded. */
export { type EmbeddedDatabase, type EmbeddedOptions, FolderInUse, openEmbedded } from './embedded.js';
export { EmbeddedPostgresError } from './error.js';
export { holdsDatabase } from './folder.js';
