// Runs a bridge's own main file with kit.mjs instead of the kit: node --import …/preload.mjs …/dist/main.js

import { register } from 'node:module';

register('./resolve.mjs', import.meta.url);
