import { defineConfig } from 'vite';

/** Builds files with hashed names, and an index.html that the service completes with a nonce. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  // `npm run dev`: pages as they are written, answers by the service of `npm start`.
  server: { proxy: { '/console/api': 'http://127.0.0.1:8080' } },
  build: {
    outDir: 'dist',
    target: ['chrome111', 'edge111', 'firefox114', 'safari16.4'],
    // The page's policy has no room for data: addresses of scripts and styles, nor for an inline loader.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // Libraries mark their modules for servers that render; there is none here, and a thousand warnings hide a real one.
      onLog: (level, log, handle) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handle(level, log);
      },
      output: {
        codeSplitting: {
          groups: [
            // Changes seldom, so a browser keeps it from release to release.
            { name: 'react', test: /node_modules\/(react|react-dom|scheduler|@tanstack)\// },
          ],
        },
      },
    },
  },
});
