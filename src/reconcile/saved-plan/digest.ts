import { createHash } from 'node:crypto';
import type { DesiredResource } from '../../model/desired.ts';
import { canonical, sortedKeys, type JsonObject } from '../../model/json.ts';
import type { Change, EdgeChange, TargetIdentity, Value, SecretProvenance } from '../../model/plan/plan.ts';

/**
 * What two runs must agree on to be the same plan: target, actions, non-secret values and which of them are held, edges
 * and secret sources. Positions, origins, reasons, the state of secrets and edges that are not ours are outside it.
 */
export function digestOf(
  target: TargetIdentity,
  changes: readonly Change[],
  edges: readonly EdgeChange[],
  sources: Iterable<SecretProvenance>,
): string {
  const hash = createHash('sha256');
  const told = changes.filter((change) => changesMore(change) || writesEdge(change, edges));
  const written = edges.filter(({ action }) => action !== 'foreign');
  // The canonical text of one document, change by change: that of a thousand as a whole would be taken to pieces again.
  hash.update('{"changes":[');
  for (const [index, change] of told.entries()) hash.update(`${index === 0 ? '' : ','}${canonical(changeDocument(change))}`);
  hash.update(`],"edges":${canonical(written.map(({ rule, connection, action }) => ({ rule, connection, action })))}`);
  hash.update(`,"target":${canonical({ ...target })}}`);
  return hash.update(sourcesText(sources)).digest('hex');
}

/** Where every secret of the resources comes from, one after another; resources come sorted. */
export function* sourcesOf(resources: readonly Pick<DesiredResource, 'id' | 'secrets'>[]): Generator<SecretProvenance> {
  for (const { id, secrets } of resources) for (const path of sortedKeys(secrets)) yield { id, path, source: secrets[path]?.source ?? '' };
}

/** A line each, with lengths, so that no two lists have the same text. */
function sourcesText(sources: Iterable<SecretProvenance>): string {
  let text = '';
  for (const { id, path, source } of sources) text += `\n${id.length} ${path.length} ${source.length} ${id} ${path} ${source}`;
  return text;
}

function changeDocument(change: Change): JsonObject {
  const fields = change.fields.filter((field) => !isSecret(field.before) && !isSecret(field.after));
  return {
    id: change.id,
    ...(change.key === undefined ? {} : { key: change.key }),
    action: change.action,
    fields: fields.map(({ path, before, after, held }) => ({
      path,
      before: { ...before },
      after: { ...after },
      ...(held === undefined ? {} : { held }),
    })),
  };
}

/** Returns whether more happens to an object than that some of its secrets are set. */
function changesMore({ action, fields }: Change): boolean {
  const comesOrGoes = action === 'create' || action === 'rename' || action === 'delete';
  return comesOrGoes || fields.some((field) => !isSecret(field.before) && !isSecret(field.after));
}

function writesEdge(change: Change, edges: readonly EdgeChange[]): boolean {
  return edges.some((edge) => edge.by === (change.key ?? change.id));
}

function isSecret(value: Value): boolean {
  return 'secret' in value;
}
