import pipeline from '../../../examples/gitlab/.gitlab-ci.yml';
import apply from '../../../examples/github/apply.yml';
import drift from '../../../examples/github/drift.yml';
import plan from '../../../examples/github/plan.yml';
import validate from '../../../examples/github/validate.yml';
import { isAbsolute, posix, relative, sep } from 'node:path';
import type { DesiredState } from '../../model/desired.ts';
import type { ResolvedConfig } from '../resolved-config.ts';

type WorkflowInput = {
  readonly config: Pick<ResolvedConfig, 'root' | 'file' | 'targets'>;
  /** The folder of the config, relative to the top of the repository; empty at the top. */
  readonly prefix: string;
  /** The manifests of all targets. */
  readonly states: readonly Pick<DesiredState, 'resources'>[];
  /** The action as workflows name it, `OWNER/NAME@COMMIT`; undefined: the reader fills it in. */
  readonly action: string | undefined;
};

/** Returns workflows for GitHub that validate, plan, apply and report drift, by their path from the top of the repository. */
export function workflowFiles(input: WorkflowInput): readonly (readonly [path: string, text: string])[] {
  return Object.entries({ validate, plan, apply, drift }).map(([name, text]) => [
    `.github/workflows/access-${name}.yml`,
    fill(text, input),
  ]);
}

/** Returns the pipeline for GitLab that validates, plans, applies and reports drift, by its path from the top of the repository. */
export function pipelineFiles({
  config,
  prefix,
}: Pick<WorkflowInput, 'config' | 'prefix'>): readonly (readonly [path: string, text: string])[] {
  const own = prefix === '' ? '' : ` --config ${quoted(posix.join(prefix, configName(config.file)))}`;
  const isFleet = config.targets.length > 1;
  const text = pipeline
    .replace('Copy this file to the top of\n# your repository, and protect the default branch.', 'Protect the\n# default branch.')
    .replace(/OSTIARY_TOKEN (?= )/, [...new Set(config.targets.map(({ token }) => token.env))].join(', '))
    .replace('[.ostiary/]', `[${posix.join(prefix, '.ostiary/')}]`)
    .replaceAll(/ostiary ci \w+/g, (command) => (isFleet ? `${command} --all-targets` : command))
    .replaceAll(/ostiary (?:ci \w+( --all-targets)?|validate)/g, (command) => `${command}${own}`)
    .replaceAll(/(--report (?:markdown|html)=\w+)\.|(--journal \w+)\./g, (file) => (isFleet ? `${file.slice(0, -1)}-{target}.` : file))
    .replaceAll(/^( +paths: )\[((?:plan|apply|drift)\.[^\]]*)\]/gm, (line, key: string, files: string) =>
      isFleet ? `${key}[${files.replaceAll(/(\w+)\.(\w+)/g, "'$1-*.$2'")}]` : line,
    );
  return [['.gitlab-ci.yml', text]];
}

function fill(text: string, input: WorkflowInput): string {
  const { config, prefix, action } = input;
  const place = config.targets.length > 1 ? ['all-targets: true'] : [];
  const further = [...(prefix === '' ? [] : [`working-directory: ${quoted(prefix)}`]), ...place];
  const tokens = [...new Set(config.targets.map(({ token }) => token.env))];
  return text
    .replaceAll(/paths: \[.*\]/g, () => `paths: [${watchedPaths(input).map(quoted).join(', ')}]`)
    .replaceAll(/( +)(mode: \w+)\n/g, (_, indent: string, mode: string) => [mode, ...further].map((line) => `${indent}${line}\n`).join(''))
    .replaceAll(/( +)OSTIARY_TOKEN: .*?( #.*)?\n/g, (_, indent: string, about = '') =>
      tokens.map((name, index) => `${indent}${secretLine(name)}${index === 0 ? about : ''}\n`).join(''),
    )
    .replaceAll(/( +)OSTIARY_SECRET_ORDERS: .*\n/g, (_, indent: string) =>
      variablesIn(input)
        .map((name) => `${indent}${secretLine(name)}\n`)
        .join(''),
    )
    .replaceAll(/( +)# acme\/ostiary and the zeros .*\n/g, (_, indent: string) => (action === undefined ? `${indent}${fillIn}\n` : ''))
    .replaceAll(/acme\/ostiary@0+ # v[\d.]+/g, (named) => action ?? named.replace(/ #.*$/, ''));
}

const fillIn = '# Fill in the repository of the action, and the commit of a release: a tag can be moved.';

function secretLine(name: string): string {
  return `${name}: \${{ secrets.${name} }}`;
}

/** Lists everything that a change of a plan can come from: the config, its folders of manifests and overlays, and the files of secrets. */
export function watchedPaths({ config: { root, file, targets }, prefix, states }: Omit<WorkflowInput, 'action'>): readonly string[] {
  const inRepository = (path: string): string => {
    const own = isAbsolute(path) ? relative(root, path).split(sep).join('/') : path;
    return posix.join(prefix, own);
  };
  const folders = targets.flatMap(({ manifests, overlays }) => [...manifests, ...overlays]).map(inRepository);
  const paths = folders.map((path) => (/\.ya?ml$/.test(path) ? path : path === '.' ? '**' : `${path}/**`));
  const covered = (path: string): boolean => folders.some((folder) => folder === '.' || path === folder || path.startsWith(`${folder}/`));
  const secrets = sourcesIn(states, 'file:')
    .map(inRepository)
    .filter((path) => !covered(path));
  return [...new Set([...paths, ...secrets, inRepository(configName(file))])];
}

function configName(file: string | undefined): string {
  return file === undefined ? 'ostiary.yaml' : posix.basename(file.split(sep).join('/'));
}

function variablesIn({ states }: WorkflowInput): readonly string[] {
  return sourcesIn(states, 'env:');
}

function sourcesIn(states: WorkflowInput['states'], scheme: string): readonly string[] {
  const sources = states.flatMap(({ resources }) => resources.flatMap(({ secrets }) => Object.values(secrets).map(({ source }) => source)));
  return [...new Set(sources.filter((source) => source.startsWith(scheme)).map((source) => source.slice(scheme.length)))].toSorted();
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
