import { createHash } from 'node:crypto';
import type { Checked, Position } from '../../model/diagnostic.ts';
import { duplicateKey } from '../../model/spec/duplicate-key.ts';
import { type JsonObject, canonicalPieces, isObject, nestsDeeper } from '../../model/json.ts';
import type { Kind, Registry } from '../../model/kind.ts';
import {
  type AcceptedDrift,
  type Change,
  type EdgeChange,
  type FieldChange,
  type Plan,
  type SavedPlan,
  isOnLiveObject,
  liveKeyOf,
} from '../../model/plan/plan.ts';
import { fieldAt, type Pointer } from '../../model/pointer.ts';
import { kindOf } from '../../model/resource.ts';
import { digestOf, digestWithUnwritten } from './plan-digest.ts';
import { type EncodedDrift, type EncodedPlan, plan as isPlanDocument } from './validators.ts';

/** The size limit of a plan file, in bytes: that of 50,000 new connections has about 270 MB, and V8 has no strings above 512 MiB. */
export const longestPlan: number = 384 * 1024 * 1024;

/** The depth limit of a plan file: manifests nest at most 64 deep, and a plan adds a few levels. */
const deepest = 128;

/** Returns the document of one plan with the facts that must still hold when it is executed, and a checksum. */
export function sealedPlan(document: JsonObject, { tool, whole, repository, live, sources, seal }: Omit<SavedPlan, 'plan'>): JsonObject {
  const saved = {
    tool,
    whole,
    repository,
    live: live.map((one) => ({ ...one })),
    sources: sources.map((one) => ({ ...one })),
    seal,
  };
  return { ...document, saved: { ...saved, checksum: checksumOf({ ...document, saved }) } };
}

/** A saved plan, or the unknown version of its format. */
type OpenedPlan = SavedPlan | { readonly version: string };

/** Reads a saved plan. Returns one diagnostic for a file that differs from what was saved. */
export function openPlan(text: string, registry: Registry): Checked<OpenedPlan> {
  const document = parsed(text);
  if (typeof document === 'string') return broken(document);
  const version = document['version'];
  if (version !== 1 && typeof version === 'number') return { value: { version: String(version) }, diagnostics: [] };
  if (!isPlanDocument(document)) {
    const [error] = isPlanDocument.errors ?? [];
    return broken(`it does not match the schema of plans at ${error?.instancePath || 'its top'} (${error?.keyword ?? 'form'})`);
  }
  const { plans, saved } = document;
  const [plan] = plans;
  if (saved === undefined) return broken('it is a report of a plan, not a plan saved with --out');
  if (plan === undefined || plans.length > 1) return broken(`it contains ${plans.length} plans, expected one`);
  if (saved.checksum !== checksumOf(unsealed(document))) return broken('it changed after it was saved: the checksum differs');
  const accepted = (plan.accepted ?? []).map(withEdges);
  if (plan.digest !== digestWithUnwritten(digestOf(plan.target, plan.changes, plan.edges, saved), { accepted, checks: plan.checks }))
    return broken('its digest does not match its content');
  const mistake = mistakeIn(plan, saved, registry);
  if (mistake !== undefined) return broken(mistake);
  const { checksum: _, ...rest } = saved;
  return { value: { plan: decodePlan(plan), ...rest }, diagnostics: [] };
}

function decodePlan(document: EncodedPlan): Plan {
  const {
    changes: encoded,
    singleWrites = [],
    references = [],
    unwritten = [],
    notCompared = [],
    unwrittenSecrets = [],
    tree,
    digest,
    ...rest
  } = document;
  const { accepted: encodedDrift = [], ...plan } = rest;
  const changes = encoded.map(withPositions);
  const accepted = encodedDrift.map(withEdges).map(withPositions);
  return { ...plan, seals: { tree, digest }, changes, accepted, references, unwritten, notCompared, unwrittenSecrets, singleWrites };
}

function withEdges(drift: EncodedDrift): Omit<AcceptedDrift, 'positions'> {
  return { edges: [], ...drift };
}

type PlacedFields = { readonly fields: readonly (FieldChange & { readonly at?: Position })[] };

function withPositions<T extends PlacedFields>(change: T): T & Required<Pick<Change, 'positions'>> {
  return {
    ...change,
    positions: { byPath: Object.fromEntries(change.fields.flatMap(({ path, at }) => (at === undefined ? [] : [[path, at]]))) },
  };
}

function broken(reason: string): Checked<never> {
  const hint = 'plan again with --out';
  return { diagnostics: [{ code: 'plan/broken-file', severity: 'error', message: `invalid saved plan: ${reason}`, hint }] };
}

function parsed(text: string): JsonObject | string {
  if (text.trim() === '') return 'it is empty';
  if (nestsDeeper(text, deepest)) return `it nests more than ${deepest} deep`;
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return 'it is not a JSON object';
    const key = duplicateKey(text);
    return key === undefined ? value : `duplicate key ${key}`;
  } catch {
    return 'it is not JSON, or is truncated';
  }
}

function unsealed(document: JsonObject): JsonObject {
  const { saved } = document;
  if (!isObject(saved)) return document;
  const { checksum: _, ...rest } = saved;
  return { ...document, saved: rest };
}

function checksumOf(document: JsonObject): string {
  const hash = createHash('sha256');
  for (const piece of canonicalPieces(document)) hash.update(piece);
  return hash.digest('hex');
}

/** Returns what makes a plan inconsistent although it matches the schema. */
function mistakeIn(
  plan: { readonly changes: readonly Change[]; readonly edges: readonly EdgeChange[] },
  saved: Pick<SavedPlan, 'live'>,
  registry: Registry,
): string | undefined {
  const ids = new Set(plan.changes.map(({ id }) => id));
  const keys = new Set(plan.changes.map(liveKeyOf));
  if (keys.size < plan.changes.length) return 'it changes an object more than once';
  const seen = new Set(saved.live.map(({ id, uid }) => `${uid} ${id}`));
  for (const change of plan.changes) {
    const kind = registry.get(kindOf(change.id));
    if (kind === undefined || kindOf(liveKeyOf(change)) !== kind.name) return `${change.id} has an unknown kind`;
    const path = change.fields.find((field) => !isKnownPath(kind, field.path));
    if (path !== undefined) return `${change.id} has no field ${path.path}`;
    if (isOnLiveObject(change) && !seen.has(`${change.uid} ${liveKeyOf(change)}`)) return `the earlier state of ${change.id} is missing`;
  }
  const edge = plan.edges.find(({ by }) => by !== undefined && !keys.has(by) && !ids.has(by));
  return edge === undefined ? undefined : `${edge.by}, which writes an attachment, is not changed`;
}

function isKnownPath(kind: Kind, path: Pointer): boolean {
  return kind.fields.some(({ name, edge }) => name === fieldAt(path) && edge === undefined);
}
