import { expect } from 'vitest';
import { playPullRequests } from '../../support/pull-request-story.ts';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import type { Gateway } from '../use-gateway.ts';
import type { ActionBench } from './use-action.ts';

type Place = { readonly folder: string; readonly gateway: Gateway; readonly bench: ActionBench };

/** Plays the story of the pull requests with the bundled action, and returns what it says. */
export async function expectStory({ folder, gateway, bench }: Place): Promise<readonly string[]> {
  const titles: string[] = [];
  const said: string[] = [];
  const { url, key } = gateway.server();
  await playPullRequests({
    folder,
    gateway: { url, key },
    github: bench.github(),
    step: bench.bundled,
    ostiary: ostiaryInProcess,
    title: (text) => void titles.push(text),
    say: (text) => void said.push(text),
  });
  expect(titles).toHaveLength(10);
  expect(await gateway.names('/connections')).toEqual(['reports-db', 'sales-db']);
  return said;
}
