import type { TestProject } from 'vitest/node';
import { offerFixtures } from './fixtures.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where a test asks for the fixtures that all workers share. */
    readonly fixtures: string;
  }
}

/** Offers the databases that tests start servers on; nothing is made before a test asks for it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const fixtures = await offerFixtures();
  project.provide('fixtures', fixtures.url);
  return fixtures.close;
}
