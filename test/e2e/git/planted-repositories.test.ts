import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { hostileConfig, makeWitness, plantHooks, type Witness } from '../../support/planted-programs.ts';
import { useRepositories, type TestRepository } from '../../support/repository.ts';
import { useGateway } from '../use-gateway.ts';
import { useAction } from '../action/use-action.ts';
import { guardrail, manifest, useProjects, type Files } from '../project.ts';

const gateway = useGateway();
const bench = useAction(useProjects());
const { make, makeOrigin } = useRepositories();

const root = realpathSync(mkdtempSync(join(tmpdir(), 'ostiary-planted-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let witnesses = 0;

/** Creates a witness with its own folder. */
function createWitness(): Witness {
  witnesses += 1;
  return makeWitness(join(root, `witness-${witnesses}`));
}

const home = 'infra/prod';

function project(): Files {
  const target = `{ url: '${gateway.url()}', overlays: [overlay/] }`;
  const config = `apiVersion: ostiary/v1\nkind: Config\nmanifests: [access/]\ntargets:\n  production: ${target}\n`;
  return {
    [`${home}/ostiary.yaml`]: config,
    [`${home}/access/g.yaml`]: guardrail('planted'),
    [`${home}/overlay/g.yaml`]: manifest('GuardrailRule', 'planted', { description: 'as in production' }),
  };
}

/** Runs command lines in the project of a repository, and modes of the action; returns the failures. */
async function failures(repository: TestRepository, lines: readonly string[], modes: readonly string[]): Promise<readonly string[]> {
  const folder = join(repository.folder, home);
  const results: (readonly [string, { readonly code: number | null; readonly stdout: string; readonly stderr: string }])[] = [];
  for (const line of lines) results.push([line, await gateway.run(line, folder)]);
  const env = { ...gateway.env(), GITHUB_SHA: repository.git('rev-parse', 'HEAD') };
  for (const mode of modes) {
    const options = { cwd: folder, event: 'push', payload: {}, inputs: { mode }, env };
    results.push([`action ${mode}`, await bench.step(options)]);
  }
  return results.flatMap(([line, { code, stdout, stderr }]) => (code === 0 ? [] : [`${line}: ${code} ${stdout} ${stderr}`]));
}

// security: proposal
describe('a repository whose own configuration names programs', () => {
  /** Writes the configuration to each location that git reads for one repository. */
  const locations: Readonly<Record<string, (repository: TestRepository, text: string) => void>> = {
    'its config': ({ folder }, text) => appendFileSync(join(folder, '.git/config'), text),
    'the config of its worktree': ({ folder, git }, text) => {
      git('config', 'extensions.worktreeConfig', 'true');
      writeFileSync(join(folder, '.git/config.worktree'), text);
    },
    'a file that its config includes': ({ folder, write }, text) => {
      write({ 'infra/included': text });
      appendFileSync(join(folder, '.git/config'), '[include]\n\tpath = ../infra/included\n');
    },
    'a file that its config includes for this folder and this branch': ({ folder, write }, text) => {
      write({ 'infra/included': text });
      const conditions = ['gitdir:**', 'onbranch:**'].map((condition) => `[includeIf "${condition}"]\n\tpath = ../infra/included\n`);
      appendFileSync(join(folder, '.git/config'), conditions.join(''));
    },
    'the config of a folder elsewhere, which the file .git names': ({ folder }, text) => {
      const elsewhere = `${folder}.git`;
      renameSync(join(folder, '.git'), elsewhere);
      writeFileSync(join(folder, '.git'), `gitdir: ${elsewhere}\n`);
      appendFileSync(join(elsewhere, 'config'), text);
    },
  };
  const addresses: Readonly<Record<string, (witness: Witness) => string>> = {
    'a command line': (witness) => `ext::${witness.command('address')}`,
    'a machine behind ssh': () => 'ssh://127.0.0.1:1/x',
    'a machine behind https': () => 'https://127.0.0.1:1/x',
    'a machine behind git://': () => 'git://127.0.0.1:1/x',
  };
  const cases = Object.keys(locations).map((location, index) => [Object.keys(addresses)[index % 4] ?? '', location] as const);

  test.each(cases)('and whose origin is %s (%s) runs nothing', async (address, location) => {
    const witness = createWitness();
    const repository = make(project());
    plantHooks(join(repository.folder, '.git'), witness);
    locations[location]?.(repository, hostileConfig(witness, addresses[address]?.(witness) ?? ''));
    const failed = await failures(repository, ['plan', 'apply --yes --base none', 'drift', 'drift --adopt --base none'], ['plan']);
    expect(witness.ran()).toEqual([]);
    expect(failed.filter((failure) => failure.startsWith('plan: 4'))).toEqual([expect.stringContaining('git/origin-unreachable')]);
  });

  test('works as usual if its origin works', async () => {
    const witness = createWitness();
    const repository = make({ ...project(), '.gitattributes': '* filter=x diff=x merge=x\n' });
    const origin = makeOrigin(repository);
    plantHooks(join(repository.folder, '.git'), witness);
    mkdirSync(join(repository.folder, '.git/objects/info'), { recursive: true });
    writeFileSync(join(repository.folder, '.git/objects/info/alternates'), `${origin.folder}/objects\n`);
    locations['its config']?.(repository, hostileConfig(witness, origin.folder));
    const failed = await failures(repository, ['plan', 'apply --yes', 'drift', 'drift --adopt'], ['plan', 'apply']);
    expect(witness.ran()).toEqual([]);
    expect(failed).toEqual([]);
    expect(origin.git('for-each-ref', 'refs/ostiary/applied')).not.toBe('');
  });
});
