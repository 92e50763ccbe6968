import { defineConfig } from 'vitest/config';

/** Tests that start one process after another: git, the built command, a browser. */
const processes = ['test/e2e/**/*.test.ts', 'test/git/**/*.test.ts', 'test/unit/git/**/*.test.ts', 'test/browser/**/*.test.ts'];

export default defineConfig({
  test: {
    // Only what hangs takes so long, also on a machine that does other work.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // The tests wait for processes and disks more than they compute: one worker a core, none left free.
    maxWorkers: '100%',
    // No test replaces a module or a global: what one file loaded and compiled, PGlite above all, serves the next.
    isolate: false,
    setupFiles: ['test/support/chance.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // A process is started by copying the one that starts it, and those that hold databases are large: they come last.
    projects: [
      { extends: true, test: { name: 'processes', include: processes, sequence: { groupOrder: 0 } } },
      { extends: true, test: { name: 'here', include: ['test/**/*.test.ts'], exclude: processes, sequence: { groupOrder: 1 } } },
    ],
  },
});
