// npm run prove -- looks: every page of the console and of redemption, on every screen and in both languages. `npm test` has each
// page on one of them. SHOTS names a folder for pictures of the page of redemption.
import { requireFont } from '../../../scripts/debian.mjs';
import { runTests } from '../../../scripts/vitest.mjs';

// Without one, Chinese is a row of boxes, all of the same width.
requireFont('zh', 'fonts-noto-cjk');

const FILES = ['test/browser/console-looks', 'test/browser/pages', 'test/redeem/looks'];
process.exit(runTests(['--project', 'service', ...FILES], { LONG_RUNS: 'on' }));
