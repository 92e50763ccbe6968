import { EdgeMap } from '../model/collections.ts';
import { posix, relative, sep } from 'node:path';
import { maxBytes } from '../disk/text-file.ts';
import { shower, shownFolder } from '../disk/walk.ts';
import { referencePrefixesOf } from '../gateway/dialects/choose-dialect.ts';
import { registry } from '../kinds/index.ts';
import {
  draftManifests,
  type DraftManifest,
  type DraftInput,
  type DraftResult,
  assignFileNames,
} from '../manifest/draft/draft-manifests.ts';
import { manifestText } from '../manifest/draft/manifest-text.ts';
import { createDefaultsSubtraction } from '../manifest/draft/subtract-defaults.ts';
import { InputError } from '../model/errors.ts';
import type { GatewayIdentity } from '../model/gateway.ts';
import { liveEdges, type LiveState } from '../model/live.ts';
import type { Pointer } from '../model/pointer.ts';
import { respellManifest } from '../model/spec/spelling.ts';
import type { SkippedObject, PullResult, PulledSecrets, UnstatedPart } from '../model/result/outcome.ts';
import { type ResourceId, kindOf } from '../model/resource.ts';
import type { SourceFile } from '../model/diagnostic.ts';
import { resolveEdges } from '../model/edge-ends.ts';
import { isAtOrBelow, loadWhole, wholeInputOf } from '../project/manifests.ts';
import { schemaPath } from '../project/templates/schema-files.ts';
import { checkDrafts, type DraftCheck } from './check-drafts.ts';
import type { PullProject } from './pull-project.ts';

/** The live objects to write as manifests, and the project to write them for. */
type ManifestRequest = {
  readonly ids: ReadonlySet<ResourceId>;
  /** Objects that only their manager may write. */
  readonly managed: readonly SkippedObject[];
  readonly live: LiveState;
  readonly project: PullProject;
  readonly identity: GatewayIdentity;
  /** File names that exist already, in lower case. */
  readonly taken: ReadonlySet<string>;
  readonly secrets: PulledSecrets;
};

/** New manifests with paths below the project's folder, and the report on them. */
export type PullManifests = {
  readonly manifests: readonly SourceFile[];
  readonly drafts: DraftResult;
  readonly pulled: Omit<PullResult, 'files' | 'terraform' | 'updated' | 'edited'>;
};

/**
 * Makes manifests so that a plan of the project finds no changes in them: drafts, plans, and drafts again with the differing
 * paths ignored and invalid drafts left out, until a plan is empty.
 */
export function makeManifests(request: ManifestRequest): PullManifests {
  const ignored = new Map<ResourceId, readonly Pointer[]>();
  const excluded = new Map<ResourceId, string>();
  const doubtful = new Set<ResourceId>();
  for (;;) {
    const drafts = draftManifests({ ...draftingOf(request), ignored, excluded, doubtful });
    const manifests = filesOf(drafts.drafts, request);
    const check = checkManifests(drafts.drafts, manifests, request);
    const more = [...check.ignored].filter(([id, paths]) => paths.some((path) => ignored.get(id)?.includes(path) !== true));
    if (more.length === 0 && check.invalid.size === 0)
      return { manifests, drafts, pulled: describePull(request, { drafts, manifests, check, ignored }) };
    for (const [id, paths] of more) ignored.set(id, [...new Set([...(ignored.get(id) ?? []), ...paths])]);
    for (const [id, reason] of check.invalid) {
      if (doubtful.has(id)) excluded.set(id, reason);
      else doubtful.add(id);
    }
  }
}

const noDifferences: DraftCheck = { ignored: new Map(), invalid: new Map(), differing: [], gone: [] };

function draftingOf({ ids, live, project, identity, secrets }: ManifestRequest): Omit<DraftInput, 'ignored' | 'excluded' | 'doubtful'> {
  const { declared, target, config, folder } = project;
  const known = new EdgeMap(resolveEdges(declared.edges, { desired: declared, live, registry }));
  const isShared = config.targets.some(
    ({ name, manifests }) => name !== target.name && manifests.some((path) => isAtOrBelow(folder, path)),
  );
  const sources = declared.resources.flatMap((one) => Object.values(one.secrets).map(({ source }) => source));
  return {
    live: live.resources.filter(({ id }) => ids.has(id)),
    edges: liveEdges(live, registry).filter((ends) => !known.has(ends)),
    registry,
    speech: identity,
    secrets: {
      form: secrets,
      prefix: target.secretPrefixes[0] ?? '',
      taken: new Set(sources.flatMap((source) => (source.startsWith('env:') ? [source.slice('env:'.length)] : []))),
      referencePrefixes: referencePrefixesOf(identity.dialect),
    },
    targets: isShared ? [target.name] : [],
    declared: new Set(declared.resources.map(({ id }) => id)),
  };
}

/** Returns the text of each manifest, and its path below the project's folder. */
function filesOf(drafts: readonly DraftManifest[], { project, taken, identity }: ManifestRequest): readonly SourceFile[] {
  const names = assignFileNames(
    drafts.map(({ id }) => id),
    taken,
  );
  const below = relative(project.root, project.folder).split(sep);
  const folder = below.map((name) => (name === '' ? '' : `${name}/`)).join('');
  // All files of a kind are in one folder.
  const schemas = new Map<string, string>();
  const { files, pathInTree: placeOf = (path: string) => path, spelling } = wholeInputOf(project.sources, project);
  const withoutDefaults = createDefaultsSubtraction({ files, registry, speech: identity, placeOf, spelling });
  return drafts.map((draft) => {
    const { id } = draft;
    const path = `${folder}${names.get(id) ?? ''}`;
    const plain = withoutDefaults(draft, path);
    const value = spelling === undefined ? plain : respellManifest(plain, spelling);
    const kind = kindOf(id);
    const schema = schemas.get(kind) ?? posix.relative(posix.dirname(path), schemaPath(kind));
    schemas.set(kind, schema);
    return { path, text: manifestText(value, schema), said: value };
  });
}

/** Loads and plans the project with the manifests added. Throws InputError for errors outside the new manifests. */
function checkManifests(
  drafts: readonly DraftManifest[],
  manifests: readonly SourceFile[],
  { project, live, identity }: ManifestRequest,
): DraftCheck {
  const { sources, target, declared } = project;
  if (drafts.length === 0 && declared.resources.length === 0) return noDifferences;
  const files = withDisplayPaths(manifests, project);
  const large = files.flatMap(({ text }, index) => (Buffer.byteLength(text) > maxBytes ? (drafts[index]?.key ?? []) : []));
  if (large.length > 0) return { ...noDifferences, invalid: new Map(large.map((key) => [key, 'its manifest would be larger than 1 MiB'])) };
  const { value: desired, diagnostics } = loadWhole({ ...sources, files: [...sources.files, ...files] }, project);
  if (desired !== undefined) return checkDrafts({ drafts, desired, live, identity, target });
  const keys = new Map(files.map(({ path }, index) => [path, drafts[index]?.key]));
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const wrong = errors.map(({ at, message }) => ({ key: keys.get(at?.file ?? ''), message }));
  if (wrong.length === 0 || wrong.some(({ key }) => key === undefined)) throw new InputError(errors);
  return { ...noDifferences, invalid: new Map(wrong.flatMap(({ key, message }) => (key === undefined ? [] : [[key, message]]))) };
}

/** Returns the files with the paths that people see. */
export function withDisplayPaths(manifests: readonly SourceFile[], { root, context }: PullProject): readonly SourceFile[] {
  const folder = shownFolder(root, context.cwd);
  return manifests.map((file) => ({ ...file, path: `${folder}${file.path}` }));
}

type Outcome = {
  readonly drafts: DraftResult;
  readonly manifests: readonly SourceFile[];
  readonly check: DraftCheck;
  readonly ignored: ReadonlyMap<ResourceId, readonly Pointer[]>;
};

function describePull(
  { managed, live, project, identity, secrets }: ManifestRequest,
  { drafts, manifests, check, ignored }: Outcome,
): Omit<PullResult, 'files' | 'terraform' | 'updated' | 'edited'> {
  const show = shower(project.context.cwd);
  const { name, url } = project.target;
  const files = withDisplayPaths(manifests, project);
  const changed = check.differing.length + check.gone.length;
  return {
    target: { name, url, dialect: identity.dialect },
    folder: show(project.root),
    written: drafts.drafts.map(({ id }, index) => ({ id, file: files[index]?.path ?? '' })),
    unchanged: Math.max(0, project.declared.resources.length - changed),
    differing: check.differing,
    gone: check.gone,
    leftOut: [
      ...managed,
      ...[...drafts.excluded, ...namesakesIn(live)].map(([id, reason]): SkippedObject => ({ id, why: 'inexpressible', reason })),
    ],
    unstated: [...drafts.unstated, ...drafts.drafts.flatMap((draft) => unstatedPaths(draft, ignored, drafts.unstated))],
    secrets: { form: secrets, ...drafts.secrets.countSecrets() },
  };
}

/** Returns the names that several live objects have, with the reason why none of them gets a manifest. */
function namesakesIn({ namesakes = [] }: LiveState): ReadonlyMap<ResourceId, string> {
  return new Map(
    namesakes.map(({ id }) => [id, 'several objects have this name; rename all but one of them on the gateway, then pull again']),
  );
}

/** Returns the paths that a manifest ignores only because no manifest can declare the live value. */
function unstatedPaths({ id, key }: DraftManifest, ignored: Outcome['ignored'], listed: readonly UnstatedPart[]): readonly UnstatedPart[] {
  const known = listed.filter((one) => one.id === id).map(({ path }) => path.split('/')[1]);
  return (ignored.get(key) ?? [])
    .filter((path) => !known.includes(path.split('/')[1]))
    .map((path) => ({ id, path, reason: 'no manifest can declare the live value' }));
}
