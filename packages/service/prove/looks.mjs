// npm run prove -- looks: every page of the console and of redemption, on every screen and in both languages. `npm test` has each
// page on one of them.
import { runTests } from '../../../scripts/vitest.mjs';

process.exit(
  runTests(['--project', 'service', 'test/browser/console-looks', 'test/browser/pages'], { LONG_RUNS: 'on' }),
);
