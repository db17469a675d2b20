import os from 'node:os';
import { defineConfig } from 'vitest/config';
import { againReporter } from './packages/service/test/support/again-reporter.js';
import { LongestFirst } from './packages/service/test/support/longest-first.js';

const setupFiles = process.env['FAST_CHECK_SEED']
  ? [`${import.meta.dirname}/packages/service/test/support/fast-check-seed.ts`]
  : [];

// `isolate: false` below: what the files of a package share of a process are modules without a memory of their own, and loading
// them for each file is a third of a run.
export default defineConfig({
  test: {
    // Most tests wait for other processes: on two cores, four at a time keep both busy.
    maxWorkers: Math.max(4, Math.floor(os.availableParallelism() / 2)),
    reporters: ['default', againReporter()],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'wire',
          root: 'packages/wire',
          include: ['test/**/*.test.ts'],
          isolate: false,
          setupFiles,
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'embedded-postgres',
          root: 'packages/embedded-postgres',
          include: ['test/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'bridge-kit',
          root: 'packages/bridge-kit',
          include: ['test/**/*.test.ts'],
          globalSetup: ['test/support/server.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'bridge-stripe',
          root: 'packages/bridge-stripe',
          include: ['test/**/*.test.ts'],
          globalSetup: ['../bridge-kit/test/support/server.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'reference-peers',
          root: 'packages/reference-peers',
          include: ['test/**/*.test.ts'],
          isolate: false,
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'bridge-alipay',
          root: 'packages/bridge-alipay',
          include: ['test/**/*.test.ts'],
          isolate: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'sdk',
          root: 'packages/sdk',
          include: ['test/**/*.test.ts'],
          isolate: false,
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'service',
          root: 'packages/service',
          include: ['test/**/*.test.ts'],
          isolate: false,
          globalSetup: ['test/support/server.ts'],
          setupFiles,
          // Real servers and real crashes: the bound is for what hangs, not for what is slow.
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
