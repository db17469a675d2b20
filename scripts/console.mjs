// Builds the console's pages, which the service serves: packages/service/dist/pages/console.
import path from 'node:path';
import { build } from 'vite';
import { root } from './run.mjs';

export const buildConsole = () =>
  build({
    configFile: path.join(root, 'packages', 'console', 'vite.config.ts'),
    mode: 'production',
    logLevel: 'warn',
    clearScreen: false,
  });
