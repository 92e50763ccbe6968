import { expect, test } from 'vitest';
import { ostiaryInProcess } from '../../support/run-in-process.ts';
import { appAccount } from '../../support/github.ts';
import { playPullRequests } from '../../support/pull-request-story.ts';
import { useGateway } from '../use-gateway.ts';
import { useAction } from './use-action.ts';
import { useProjects } from '../project.ts';

const makeFolder = useProjects();
const gateway = useGateway();
const bench = useAction(makeFolder, { account: appAccount });

test('the story that npm run demo:pr plays is true', { timeout: 240_000 }, async () => {
  const titles: string[] = [];
  const said: string[] = [];
  const { url, key } = gateway.server();
  await playPullRequests({
    folder: makeFolder({}),
    gateway: { url, key },
    github: bench.github(),
    step: bench.bundled,
    ostiary: ostiaryInProcess,
    title: (text) => void titles.push(text),
    say: (text) => void said.push(text),
  });
  expect(titles).toHaveLength(10);
  expect(said.filter((line) => line.length > 80 && !/^ {2}\u2502 (?:[|+!~<]|- `|.*\b[0-9a-f]{64}\b)/.test(line))).toEqual([]);
  expect(said.join('\n')).not.toContain('correct-horse');
  expect(await gateway.names('/connections')).toEqual(['reports-db', 'sales-db']);
});
