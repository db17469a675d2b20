import { defineConfig } from 'vite';

/** Builds files with hashed names, and an index.html into which the service inserts a nonce. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  // For `npm run dev -w @perennial/console`: Vite serves the pages from the sources, and the service of `npm start`
  // answers the requests.
  server: { proxy: { '/console/api': 'http://127.0.0.1:8080' } },
  build: {
    // Into the service, which serves the pages and is published with them.
    outDir: '../service/dist/pages/console',
    emptyOutDir: true,
    target: ['chrome111', 'edge111', 'firefox114', 'safari16.4'],
    // Nothing is inlined: the content security policy forbids `data:` URLs of scripts and styles, and inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // Hides the warning MODULE_LEVEL_DIRECTIVE, which would appear a thousand times: libraries mark their modules
      // for server-side rendering. Server-side rendering is not used here.
      onLog: (level, log, handle) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handle(level, log);
      },
      output: {
        codeSplitting: {
          groups: [
            // These libraries change rarely. They have their own file, so that browsers can cache them across releases.
            { name: 'react', test: /node_modules\/(react|react-dom|scheduler|@tanstack)\// },
            // Few larger files instead of forty small ones: each file costs a phone a round trip.
            { name: 'frame', tags: ['$initial'] },
            { name: 'common', minShareCount: 6 },
          ],
        },
      },
    },
  },
});
