import { existsSync, statfsSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { compiledSchemas } from './build/compiled-schemas.js';
import { yamlTexts } from './build/yaml-texts.js';

/** The main job end to end: load, plan, apply, drift and revert on the embedded gateway, and a pull request with the action. */
const mainJob = ['main-job', 'action/pull-request-story'].map((name) => `test/e2e/${name}.test.ts`);

/** Properties that take as long as all others together. */
const longProperties = ['deletions', 'hoop-stops'].map((name) => `test/property/${name}.test.ts`);

/** Races that kill programs again and again, which the nightly run has; a comment names the tests that notice the same faults in less time. */
const slowRaces: readonly string[] = [
  // e2e/apply/interrupted (a gateway that is killed), server/objects/concurrent-writes, server/audit/audit-log
  'test/server/process/crash.test.ts',
];

/** Tests that start processes: first those of git, without a gateway and its database in the worker; then those of the built command and a browser,
 *  of which the pages of the documentation take as long as ten others: started last, they would end alone. */
const startsProcesses = [/\/test\/(?:hoop|git|unit\/git)\//, /\/test\/e2e\/reports\/pages\./, /\/test\/(?:e2e|browser)\//];

/** Starting a process copies the memory map of its parent: tests that start processes run first, while the workers are small; large files before small ones. */
class ProcessesFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((left, right) => rankOf(left) - rankOf(right) || sizeOf(right) - sizeOf(left)));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = startsProcesses.findIndex((paths) => paths.test(moduleId));
  return rank === -1 ? startsProcesses.length : rank;
}

function sizeOf({ moduleId }: TestSpecification): number {
  return statSync(moduleId).size;
}

// As in `src/commands/context/process-context.ts`: a fifth of the CPU time of all tests was spent on compiling code that then hardly ran again.
const compilesLate = process.versions.node.startsWith('20.') ? ['--interrupt-budget=1000000'] : [];

// Most tests write files: in memory, where there is room, they take half the time.
const memory = '/dev/shm';
if (existsSync(memory) && process.env['TMPDIR'] === undefined) {
  const { bavail, bsize } = statfsSync(memory);
  if (bavail * bsize > 4_000_000_000) process.env['TMPDIR'] = memory;
}

export default defineConfig({
  // As in the bundle.
  plugins: [compiledSchemas(), yamlTexts()],
  test: {
    // Only a test that hangs takes this long, even on a busy machine.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
    // Tests also wait for processes and retries: two cores run three workers in a tenth less time than two.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    // No test replaces a module or a global of its own, so files of one worker share loaded modules, above all the compiled PGlite.
    isolate: false,
    // Keeps translated modules, by their content, for the next run.
    experimental: { fsModuleCache: true },
    // Room for what lives for one test: of a smaller space much is copied, and collected with the old one.
    execArgv: ['--expose-gc', '--max-semi-space-size=16', ...compilesLate],
    sequence: { sequencer: ProcessesFirst },
    setupFiles: ['test/support/property-runs.ts', 'test/support/small-worker.ts', 'test/support/small-starts.js'],
    globalSetup: ['test/support/global-setup.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'main',
          include: ['test/*.test.ts', 'test/{contract,property,unit}/**/*.test.ts', ...mainJob],
          exclude: longProperties,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'rest',
          include: ['test/{browser,e2e,git,hoop,model,server,stories}/**/*.test.ts', ...longProperties],
          exclude: [...mainJob, ...slowRaces],
          sequence: { groupOrder: 1 },
        },
      },
      { extends: true, test: { name: 'nightly', include: ['test/torture/*.test.ts', ...slowRaces], sequence: { groupOrder: 2 } } },
    ],
  },
});
