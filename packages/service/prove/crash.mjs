// npm run prove -- crash [FILTER]: the tests that kill nodes, institutions and databases, one file after the other and with so
// much to do that each fault happens many times. `npm test` has the same files with less to do.
import { proveByTests } from '../../../scripts/vitest.mjs';

const FOLDERS = ['test/crash', 'test/institution/crash', 'test/histories'];
const filters = process.argv.slice(2);
const isWhole = filters.length === 0 || filters[0] === '--smoke';

process.exit(proveByTests(isWhole ? FOLDERS : filters, ['--no-file-parallelism']));
