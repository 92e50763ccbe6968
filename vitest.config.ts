import { existsSync, statfsSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { compiledSchemas } from './.github/compiled-schemas.js';
import { withSharedClasses } from './.github/fast-spreads.js';

/**
 * Tests that take long: faults, races, kills, full disks, databases that start again, random requests, 1,000 objects and more, whole stories
 * with git and of the action, every saved plan and secret, all pages, packing. `npm run test:slow` runs them.
 */
const slow = [
  [
    'torture/*',
    'e2e/{ci,git,release,size}/*',
    'e2e/reports/pages',
    'git/programs',
    'hoop/{access-interrupted,access-stops,cache,can-tries,every-kind,request-count,rule-moves,watched-access}',
    'model/{access-moments,permissions,protection-model}',
  ],
  ['e2e/action/{branches,cache,comment,drift,fleet,lifecycle,overrides,pull-request-story}', 'e2e/command-line/{completion,secrets}'],
  ['e2e/apply/{concurrent-applies,interrupted,rejected-values,removals,rotation}', 'e2e/network/forward-proxy', 'e2e/serve/serve'],
  ['e2e/plan/{accepted-drift,acme,digest,secret-outcomes,unreadable-secrets}', 'property/{deletions,hoop-stops,plan-base}'],
  ['server/api/fuzz', 'server/audit/audit-chain', 'server/process/{crash,folder-lock}', 'server/store/{database-folder,encryption-keys}'],
  ['server/objects/{concurrent-writes,list-slices}', 'server/reviews/{can-tries,concurrent-decisions}'],
]
  .flat()
  .map((name) => `test/${name}.test.ts`);

/** Tests that start processes: git, the built command, a browser. */
const startsProcesses = /\/test\/(?:e2e|git|unit\/git|browser)\//;

/** Starting a process copies the memory map of its parent: tests that start processes run first, while the workers are small; large files before small ones. */
class ProcessesFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((left, right) => rankOf(left) - rankOf(right) || sizeOf(right) - sizeOf(left)));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  return startsProcesses.test(moduleId) ? 0 : 1;
}

function sizeOf({ moduleId }: TestSpecification): number {
  return statSync(moduleId).size;
}

// As in `src/console/context/process-context.ts`: a fifth of the CPU time of all tests was spent on compiling code that then hardly ran again.
const compilesLate = process.versions.node.startsWith('20.') ? ['--interrupt-budget=1000000'] : [];

// Most tests write files: in memory, where there is room, they take half the time.
const memory = '/dev/shm';
if (existsSync(memory) && process.env['TMPDIR'] === undefined) {
  const { bavail, bsize } = statfsSync(memory);
  if (bavail * bsize > 4_000_000_000) process.env['TMPDIR'] = memory;
}

// CI runs the same properties with nine times as many cases, of which these are the first.
const fewerCases = { OSTIARY_TEST_RUNS: process.env['OSTIARY_TEST_RUNS'] ?? String(1 / 3) };

export default defineConfig({
  // As in the bundle.
  plugins: [
    compiledSchemas(),
    { name: 'fast-spreads', enforce: 'post', transform: (code, id) => (id.includes('/src/') ? withSharedClasses(code) : null) },
  ],
  // The build has a hash of its sources here.
  define: { __OSTIARY_BUILD__: '"test"' },
  test: {
    // Only a test that hangs takes this long, even on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // Tests also wait for processes and retries: two cores run three workers in a tenth less time than two.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    // No test replaces a module or a global, so files of one worker share loaded modules, above all the compiled PGlite.
    isolate: false,
    // Keeps translated modules, by their content, for the next run.
    experimental: { fsModuleCache: true },
    execArgv: ['--expose-gc', ...compilesLate],
    sequence: { sequencer: ProcessesFirst },
    setupFiles: ['test/support/property-runs.ts', 'test/support/small-worker.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    projects: [
      {
        extends: true,
        test: { name: 'usual', include: ['test/**/*.test.ts'], exclude: slow, sequence: { groupOrder: 0 }, env: fewerCases },
      },
      { extends: true, test: { name: 'slow', include: slow, sequence: { groupOrder: 1 } } },
    ],
  },
});
