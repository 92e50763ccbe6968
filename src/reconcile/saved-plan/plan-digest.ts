import { createHash } from 'node:crypto';
import { onFirstUse } from '../../model/collections.ts';
import type { DesiredState } from '../../model/desired.ts';
import { canonical, compareText, sortedKeys } from '../../model/json.ts';
import type {
  AcceptedDrift,
  Change,
  Diff,
  EdgeChange,
  Plan,
  PlanSeals,
  SavedPlan,
  SecretProvenance,
  TargetIdentity,
  Value,
} from '../../model/plan/plan.ts';
import type { ChangedCheck } from '../../model/plan/changed-check.ts';
import type { Prepared } from '../prepare/prepare.ts';
import { sealContents, sealedTree, sealText } from './content-seal.ts';

/** The secrets of a plan, without their values. */
type SecretFacts = Pick<SavedPlan, 'sources' | 'seal'>;

/**
 * Returns the digest that identifies a plan, in hexadecimal. It covers target, actions, non-secret values and which of them are
 * held, edges, which fields manifests state, ignore, select and protect, when access ends, and what they state about secrets; not the values of variables of the environment and of
 * files that git does not have, positions, origins, reasons, the state of secrets and unmanaged attachments.
 */
export function digestOf(
  target: TargetIdentity,
  changes: readonly Change[],
  edges: readonly EdgeChange[],
  { sources, seal }: SecretFacts,
): string {
  const hash = createHash('sha256');
  const writers = new Set(edges.map(({ by }) => by));
  const covered = changes.filter((change) => changesMore(change) || writers.has(change.key ?? change.id));
  const written = edges.filter(({ action }) => action !== 'foreign');
  // The canonical text of one document, hashed part by part to avoid one large string.
  hash.update('{"changes":[');
  for (const text of joined(covered, changeText, ',')) hash.update(text);
  hash.update('],"edges":[');
  for (const text of joined(written, edgeText, ',')) hash.update(text);
  hash.update(`],"target":${canonical({ ...target })}}`);
  for (const text of joined(sources, sourceText)) hash.update(text);
  hash.update(`\n${seal}`);
  return hash.digest('hex');
}

/** What a plan says besides its writes: the drift that it accepts, and the checks that no longer cover a connection. */
type UnwrittenParts = {
  readonly accepted: readonly (DigestedChange & Pick<AcceptedDrift, 'edges'>)[];
  readonly checks?: readonly ChangedCheck[] | undefined;
};

/**
 * Returns the digest of a plan with what it says besides its writes; without that, the digest of its writes. It leaves out the same as
 * that one, so that a token which may not read secrets gets the same digest as one that may.
 */
export function digestWithUnwritten(digest: string, { accepted, checks = [] }: UnwrittenParts): string {
  const covered = accepted.filter(({ edges, ...drift }) => edges.length > 0 || drift.fields.length === 0 || changesMore(drift));
  const texts = [
    ...covered.map((drift) => `${changeText(drift)}[${drift.edges.map(edgeText).join(',')}]`),
    ...checks.flatMap((one) => (one.action === 'uncovered' ? [canonical([one.check, ...one.connections])] : [])),
  ];
  if (texts.length === 0) return digest;
  return createHash('sha256')
    .update(`${digest}\n${texts.join('\n')}`)
    .digest('hex');
}

/**
 * Returns the digest of a plan without held drift: two plans with the same one write the same, and say the same besides. A plan that does not show
 * the held drift of everything has it.
 */
export function digestOfWrites(
  { target, changes, edges, ...unwritten }: Pick<Plan, 'target' | 'changes' | 'edges'> & UnwrittenParts,
  { desired, base }: { readonly desired: DesiredState; readonly base: { readonly desired: DesiredState } | undefined },
): string {
  const written = changes.flatMap((change) => {
    const fields = change.fields.filter(({ held }) => held !== true);
    return fields.length === 0 && change.action === 'held' ? [] : [{ ...change, fields }];
  });
  return digestWithUnwritten(digestOf(target, written, edges, secretFactsOf(desired, base?.desired)), unwritten);
}

/**
 * Returns the seals of the changes that manifests make. Without changes, each is computed when it is first read: `No changes` is printed
 * without them. With changes, they are computed at once: beside a report of many attachments, they would need more memory.
 */
export function sealsOf(
  { target, changes, edges }: Pick<Diff, 'target' | 'changes' | 'edges'>,
  { named, base, desired }: Pick<Prepared, 'named' | 'base' | 'desired'>,
): PlanSeals {
  const seals = sealsOnUse({
    tree: () => sealedTree(desired),
    digest: () => digestOf(target, changes, edges, secretFactsOf(named.desired, base?.desired)),
  });
  return changes.length === 0 ? seals : { tree: seals.tree, digest: seals.digest };
}

/** Returns the seals of a plan with what it says besides its writes. */
export function sealsWithUnwritten(seals: PlanSeals, unwritten: UnwrittenParts): PlanSeals {
  return sealsOnUse({ tree: () => seals.tree, digest: () => digestWithUnwritten(seals.digest, unwritten) });
}

/** Returns the seals of a plan from a snapshot: no plan of an apply has their digest, so that nothing that names it approves one. */
export function sealsOfSnapshot(seals: PlanSeals): PlanSeals {
  return sealsOnUse({ tree: () => seals.tree, digest: () => createHash('sha256').update(`snapshot\n${seals.digest}`).digest('hex') });
}

function sealsOnUse(make: { readonly [Seal in keyof PlanSeals]: () => string }): PlanSeals {
  const [tree, digest] = [onFirstUse(make.tree), onFirstUse(make.digest)];
  return {
    get tree() {
      return tree();
    },
    get digest() {
      return digest();
    },
  };
}

/** Returns what a digest covers of the secrets of a state, and of their changes since the base. */
export function secretFactsOf(desired: DesiredState, base: DesiredState | undefined): SecretFacts {
  return { sources: sourcesOf(desired), seal: sealContents(desired, base) };
}

/** Returns the source of each secret, in the order of the resources' ids. */
export function sourcesOf(desired: DesiredState): readonly SecretProvenance[] {
  const sources: SecretProvenance[] = [];
  for (const { id, secrets } of desired.resources.toSorted((left, right) => compareText(left.id, right.id))) {
    for (const path of sortedKeys(secrets)) {
      const { source = '', content } = secrets[path] ?? {};
      sources.push(content === undefined ? { id, path, source } : { id, path, source, content: sealText(desired, `file\n${content}`) });
    }
  }
  return sources;
}

/** Returns one line for a source, with lengths so that no two lists have the same text. */
function sourceText({ id, path, source, content }: SecretProvenance): string {
  return `\n${id.length} ${path.length} ${source.length} ${id} ${path} ${source}${content === undefined ? '' : ` ${content}`}`;
}

/** Yields the texts of a list, many at a time: texts that are joined at once need less memory than texts that are appended one by one. */
function* joined<T>(list: readonly T[], textOf: (entry: T) => string, between = ''): Generator<string> {
  for (let start = 0; start < list.length; start += batchSize) {
    const batch = list.slice(start, start + batchSize).map(textOf);
    yield `${start === 0 ? '' : between}${batch.join(between)}`;
  }
}

const batchSize = 1024;

type DigestedChange = Pick<Change, 'id' | 'key' | 'action' | 'fields'>;

/** Returns the canonical text of a change: its keys are sorted here, because there are many. */
function changeText({ id, key, action, fields }: DigestedChange): string {
  const texts = fields.flatMap(({ path, before, after, held }) => {
    if (isSecret(before) || isSecret(after)) return [];
    const mark = held === undefined ? '' : `"held":${held},`;
    return [`{"after":${valueText(after)},"before":${valueText(before)},${mark}"path":${JSON.stringify(path)}}`];
  });
  const name = key === undefined ? '' : `,"key":${JSON.stringify(key)}`;
  return `{"action":"${action}","fields":[${texts.join(',')}],"id":${JSON.stringify(id)}${name}}`;
}

/** Returns the canonical text of an attachment. */
function edgeText({ rule, connection, action }: EdgeChange): string {
  return `{"action":"${action}","connection":${JSON.stringify(connection)},"rule":${JSON.stringify(rule)}}`;
}

function valueText(value: Value): string {
  if ('value' in value) return `{"value":${canonical(value.value)}}`;
  return 'absent' in value ? '{"absent":true}' : canonical({ ...value });
}

/** Returns whether a change does more than set secrets. */
function changesMore({ action, fields }: DigestedChange): boolean {
  const comesOrGoes = action === 'create' || action === 'rename' || action === 'delete';
  return comesOrGoes || fields.some((field) => !isSecret(field.before) && !isSecret(field.after));
}

function isSecret(value: Value): boolean {
  return 'secret' in value;
}
