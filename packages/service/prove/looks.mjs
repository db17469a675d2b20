// npm run prove -- looks: every page of the console, of redemption and for developers, on every screen and in both languages, and
// the contrast of every text. `npm test` has each page on one or two of them, and of texts that are alike the first ones. SHOTS names
// a folder for pictures of the page of redemption.
import { requireFont } from '../../../scripts/debian.mjs';
import { proveByTests } from '../../../scripts/vitest.mjs';

// Without one, Chinese is a row of boxes, all of the same width.
if (!process.argv.includes('--smoke')) requireFont('zh', 'fonts-noto-cjk');

const FILES = ['test/browser/console-looks', 'test/browser/pages', 'test/redeem/looks', 'test/kit/developers-browser'];
process.exit(proveByTests(FILES));
