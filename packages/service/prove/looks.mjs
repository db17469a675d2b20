// npm run prove -- looks: every page of the console, on every screen and in both languages. `npm test` has each page on one of them.
import { runTests } from '../../../scripts/vitest.mjs';

process.exit(runTests(['--project', 'service', 'test/browser/console-looks'], { LONG_RUNS: 'on' }));
