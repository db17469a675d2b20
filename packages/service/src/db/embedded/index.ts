/** PostgreSQL brought along in npm packages, in a folder of its own. One entry: openEmbedded. */
export { NoBinaries } from './binaries.js';
export { type EmbeddedDatabase, type EmbeddedOptions, FolderInUse, openEmbedded } from './embedded.js';
