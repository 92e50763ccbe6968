import { expect, test } from 'vitest';
import { appAccount } from '../../support/github.ts';
import { useProjects } from '../project.ts';
import { useGateway } from '../use-gateway.ts';
import { expectStory } from './expect-story.ts';
import { useAction } from './use-action.ts';

const makeFolder = useProjects();
const gateway = useGateway();
const bench = useAction(makeFolder, { account: appAccount });

test('the story that npm run demo:pr plays is true', { timeout: 240_000 }, async () => {
  const said = await expectStory({ folder: makeFolder({}), gateway, bench });
  expect(said.filter((line) => line.length > 80 && !/^ {2}\u2502 (?:[|+!~<]|- `|.*\b[0-9a-f]{64}\b)/.test(line))).toEqual([]);
  expect(said.join('\n')).not.toContain('correct-horse');
});
