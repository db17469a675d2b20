// Everything that must hold: formatting and lint, types, then the tests. Arguments go to vitest.
import './lint.mjs';
import './typecheck.mjs';
import { runTests } from './vitest.mjs';

process.exit(runTests(process.argv.slice(2)));
