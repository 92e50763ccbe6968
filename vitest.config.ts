import { existsSync, statfsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { withSharedClasses } from './.github/fast-spreads.js';

/** Tests that start many processes: git, the built command, a browser. */
const processes = [
  'test/e2e/**/*.test.ts',
  'test/git/**/*.test.ts',
  'test/unit/git/**/*.test.ts',
  'test/browser/**/*.test.ts',
  'test/torture/**/*.test.ts',
];

/** Tests that need much memory, and start few processes or none. */
const large = ['e2e/size/*', 'e2e/apply/rejected-values', 'torture/histories', 'torture/interruptions'].map(
  (name) => `test/${name}.test.ts`,
);

// Most tests write files: in memory, where there is room, they take half the time.
const memory = '/dev/shm';
if (existsSync(memory) && process.env['TMPDIR'] === undefined) {
  const { bavail, bsize } = statfsSync(memory);
  if (bavail * bsize > 4_000_000_000) process.env['TMPDIR'] = memory;
}

export default defineConfig({
  // As in the bundle.
  plugins: [{ name: 'fast-spreads', enforce: 'post', transform: (code, id) => (id.includes('/src/') ? withSharedClasses(code) : null) }],
  test: {
    // Only a test that hangs takes this long, even on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: '100%',
    // No test replaces a module or a global, so files of one worker share loaded modules, above all the compiled PGlite.
    isolate: false,
    // Keeps translated modules, by their content, for the next run.
    experimental: { fsModuleCache: true },
    setupFiles: ['test/support/property-runs.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // Starting a process copies the memory map of its parent: tests that start processes run first, in small workers.
    projects: [
      {
        extends: true,
        test: {
          name: 'processes',
          // They also wait for processes and retries: two cores run three workers in a tenth less time than two.
          maxWorkers: Math.ceil(1.5 * availableParallelism()),
          include: processes,
          exclude: large,
          sequence: { groupOrder: 0 },
          execArgv: ['--expose-gc'],
          setupFiles: ['test/support/small-worker.ts'],
        },
      },
      {
        extends: true,
        test: { name: 'in-process', include: ['test/**/*.test.ts'], exclude: [...processes, ...large], sequence: { groupOrder: 1 } },
      },
      { extends: true, test: { name: 'large', include: large, sequence: { groupOrder: 2 } } },
    ],
  },
});
