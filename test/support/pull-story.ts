import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { must, quote, type Scene } from './story-scene.ts';

/** Pulls the manifests of a gateway, and plans them without changes. */
export async function playPull(scene: Scene): Promise<void> {
  const { folder, gateway, say } = scene;
  scene.title('A gateway without manifests: ostiary pull writes them');
  const home = join(folder, 'nothing-yet');
  mkdirSync(home);
  const run = async (cwd: string, ...args: readonly string[]): Promise<void> => {
    say(`$ ostiary ${args.join(' ')}`);
    say('');
    const { code, stdout } = await scene.ostiary(args, { cwd, env: { OSTIARY_TOKEN: gateway.key } });
    quote(scene, stdout);
    must(code === 0, `ostiary ${args[0] ?? ''} ends with 0`);
  };
  await run(home, 'pull', 'access-production', '--url', gateway.url);
  await run(join(home, 'access-production'), 'plan', '--detailed-exitcode');
  say('The plan needed no secret values. From now on, every change is a pull request.');
}
