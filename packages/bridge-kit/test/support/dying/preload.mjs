// node --import …/preload.mjs …/dist/main.js: a bridge's own main file, with kit.mjs instead of the kit.

import { register } from 'node:module';

register('./resolve.mjs', import.meta.url);
