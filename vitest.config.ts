import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
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
  },
});
