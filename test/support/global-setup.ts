import type { TestProject } from 'vitest/node';
import { offerFixtures } from './fixtures.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The URL of the fixtures that all workers share. */
    readonly fixtures: string;
  }
}

/** Serves the databases that tests start servers on; each is created at its first request. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const fixtures = await offerFixtures();
  project.provide('fixtures', fixtures.url);
  return fixtures.close;
}
