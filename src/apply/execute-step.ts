import type { Limited } from '../model/concurrency.ts';
import type { Gateway } from '../model/gateway.ts';
import type { Kind, Registry } from '../model/kind.ts';
import { liveKeyOf, type EdgeChange, type Plan } from '../model/plan/plan.ts';
import type { Step, StepPart } from '../model/plan/schedule.ts';
import { ApiError, type AppError } from '../model/errors.ts';
import { isMissingRow, type LiveResource, type LiveState, liveById, rowFieldsOf } from '../model/live.ts';
import type { ApplyEvent, Outcome, WrittenSecrets } from '../model/result/outcome.ts';
import { changesSincePlan, changedFieldText, type ChangedField, isCompared, type PlannedObject } from './fingerprint.ts';
import { findExtras, findUnkept, isInSync, requestOf, type SecretLookup, type WrittenStep } from './request.ts';
import { addToGroup, memoizeByObject } from '../model/collections.ts';
import { compareText, equal, textsIn } from '../model/json.ts';
import { isPointerWithin, pointer, type Pointer } from '../model/pointer.ts';
import type { ResourceId } from '../model/resource.ts';

/** The result of one step. */
export type StepResult = Pick<Outcome, 'status' | 'code' | 'message' | 'hint'>;

/** The input for executing a plan. */
export type ApplyInput = {
  readonly plan: Plan;
  /** The writes of the plan, in their order. */
  readonly steps: readonly Step[];
  /** The live state when apply starts. */
  readonly live: LiveState;
  readonly gateway: Gateway;
  readonly registry: Registry;
  readonly secretOf: SecretLookup;
  /** The largest number of writes at the same time. */
  readonly concurrency: number;
  /** Returns the milliseconds of a clock that is never set; by default that of the process. */
  readonly steady?: () => number;
  /** When aborted, writes in flight finish and no new one starts. */
  readonly signal: AbortSignal;
  readonly observe: (event: ApplyEvent) => void;
  /** Returns why this run may not write any more: another one took over its lease; asked before each write. */
  readonly leaseLoss?: () => Promise<AppError | undefined>;
  /** For a saved plan: the changed objects as they were when it was made, by the keys of the changes. */
  readonly seen?: ReadonlyMap<ResourceId, PlannedObject> | undefined;
};

/** The mutable state of a run: results by step, and the address of each object. */
export type ApplyState = {
  readonly input: ApplyInput;
  readonly results: Map<string, { readonly change: ResourceId; readonly result: StepResult }>;
  readonly known: Map<ResourceId, Pick<LiveResource, 'id' | 'uid'>>;
  /** The objects as lists showed them when apply started, by their keys; none if the plan renames, because keys then change. */
  readonly listed: ReadonlyMap<ResourceId, LiveResource>;
  /** Whether the gateway checks versions; asked before the first write of a listed object. */
  checksVersions: Promise<boolean> | undefined;
  /** The version of the secrets of each object after the writes of this run, by the key of the change. */
  readonly secretVersions: Map<ResourceId, WrittenSecrets>;
  /** The objects that were written, by their ids, as the last read showed them; only those whose secrets lists leave out. */
  readonly reread: Map<ResourceId, LiveResource>;
  /** The steps of the round that wrote. */
  readonly written: WrittenStep[];
  /** What deletions of the round read in bulk, by the kinds. */
  readonly roundReads: Map<string, ReturnType<Gateway['readAll']>>;
  /** The changes whose rows were written before all steps, with access control. */
  readonly switched: Set<ResourceId>;
  /** Runs a write when there is room for it. */
  readonly writing: Limited;
  /** The error with which the gateway did not switch access control on, and the changes for which that was; then no step starts. */
  unswitched: { readonly error: AppError; readonly ids: ReadonlySet<ResourceId> } | undefined;
  /** The error after which no step starts: the gateway cannot be reached, or is unavailable. */
  stopped: AppError | undefined;
  /** How many steps in a row failed because the gateway is unavailable (503) after all attempts. */
  unavailable: number;
};

/** Returns the kinds to list when objects are read again: their own, and the kinds that resolve the ids of their edges to names. */
export function kindsToRead(kinds: readonly Kind[]): readonly string[] {
  const names = kinds.flatMap((kind) => [
    kind.name,
    ...kind.fields.flatMap((field) => (field.edge === undefined || field.refers === undefined ? [] : [field.refers])),
  ]);
  return [...new Set(names)].toSorted();
}

/** Returns the kinds to list when what was written is compared: their own, and those of their edges whose names can change; the other names are known. */
export function kindsToCompare(kinds: readonly Kind[], registry: Registry): readonly string[] {
  const own = new Set(kinds.map(({ name }) => name));
  return kindsToRead(kinds).filter((name) => own.has(name) || registry.get(name)?.renamable !== false);
}

/** The limit of attempts when something else writes between the read and the write of a step. */
const maxAttempts = 3;

/** An object that was read longer ago than this is read again before its write. */
const maxAgeMs = 1000;

/** Executes one step: reads the object again, checks that it is still as planned, and writes it. */
export async function executeStep(step: Step, state: ApplyState): Promise<StepResult> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await attemptStep(step, state, attempt === 1 ? await findListed(step, state) : undefined);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'api/moved' || attempt === maxAttempts) throw error;
    }
  }
}

async function attemptStep(step: Step, state: ApplyState, listed: LiveResource | undefined): Promise<StepResult> {
  const early = listed ?? (await readAgain(step, state));
  const { steady = () => performance.now() } = state.input;
  const readAt = steady();
  return state.writing(async (release) => {
    const isOld = listed === undefined && steady() - readAt > maxAgeMs;
    return haltReason(state, step.change.id) ?? writeStep(step, { fresh: isOld ? await readAgain(step, state) : early, release }, state);
  });
}

/**
 * Returns the object as the list showed it that the plan was made from, where the list contains its version: the gateway rejects the
 * write if the object changed since. Undefined for a deletion, whose attachments count too, and after a write of this run.
 */
async function findListed({ change, part }: Step, state: ApplyState): Promise<LiveResource | undefined> {
  const { input, listed, secretVersions } = state;
  const key = liveKeyOf(change);
  const found = part === 'delete' || secretVersions.has(key) ? undefined : listed.get(key);
  if (found?.version === undefined || found.leftOut !== undefined) return undefined;
  state.checksVersions ??= input.gateway.checksVersions(found);
  return (await state.checksVersions) ? found : undefined;
}

/** Returns why no further write may start; undefined if it may. */
export function haltReason({ input, stopped, unswitched }: ApplyState, id?: ResourceId): StepResult | undefined {
  if (input.signal.aborted) return { status: 'interrupted', code: 'apply/interrupted', message: 'not started: interrupted' };
  if (unswitched !== undefined) {
    const { code, message: why, hint } = unswitched.error;
    // That write was the first one of these, and may have reached the gateway although no answer came.
    if (id !== undefined && unswitched.ids.has(id))
      return { status: 'failed', code, message: `access control was not switched on: ${why}`, hint };
    return {
      status: 'skipped',
      code: 'apply/need-failed',
      message: `it depends on access control, which was not switched on: ${why}`,
      hint,
    };
  }
  return stopped === undefined ? undefined : skippedAfter(stopped);
}

/** Returns the result of a step that does not start after an error. */
export function skippedAfter({ code, message, hint }: AppError): StepResult {
  const isLost = code === 'apply/lease-lost';
  return { status: 'skipped', code: isLost ? code : 'apply/gateway-lost', message: `not started: ${message}`, ...(isLost ? { hint } : {}) };
}

/** Reports a write that starts. Throws AppError when this run may not write any more. */
export async function startWrite(
  ids: readonly ResourceId[],
  step: StepPart,
  detail: string,
  { leaseLoss, observe }: ApplyInput,
): Promise<void> {
  const loss = await leaseLoss?.();
  if (loss !== undefined) throw loss;
  for (const id of ids) observe({ event: 'write', id, step, detail });
}

async function readAgain({ change }: Step, { known, input }: ApplyState): Promise<LiveResource | undefined> {
  const object = known.get(liveKeyOf(change));
  return object === undefined ? undefined : input.gateway.readOne(object);
}

/** The object as it was read before the write, and what makes room for the next write. */
type Room<Fresh = LiveResource> = { readonly fresh: Fresh; readonly release: () => void };

async function writeStep(step: Step, { fresh, release }: Room<LiveResource | undefined>, state: ApplyState): Promise<StepResult> {
  if (step.change.action === 'delete') return fresh === undefined ? { status: 'already' } : closeOrRemove(step, { fresh, release }, state);
  const creates = step.change.action === 'create' && step.part !== 'open';
  if (fresh === undefined) return creates ? create(step, state) : failStep('apply/gone', 'it no longer exists on the gateway');
  return creates ? acceptExisting(step, fresh, state) : update(step, { fresh, release }, state);
}

async function create(step: Step, state: ApplyState): Promise<StepResult> {
  const { input, known, written } = state;
  const request = requestOf(step, input.secretOf);
  await startWrite([step.change.id], step.part, 'create', input);
  try {
    const created = await input.gateway.create(request);
    known.set(request.id, { id: request.id, uid: created.uid });
    noteSecrets(step, created, state);
  } catch (error) {
    const found = error instanceof ApiError && error.code === 'api/conflict' ? await findByKey(step, state) : undefined;
    if (found === undefined) throw error;
    return acceptExisting(step, found, state);
  }
  written.push({ step, id: request.id, request });
  input.observe({ event: 'written', id: step.change.id, step: step.part });
  return { status: 'done' };
}

function closeOrRemove(step: Step, room: Room, state: ApplyState): Promise<StepResult> {
  return step.part === 'delete' ? remove(step, room.fresh, state) : update(step, room, state);
}

/** Deletes an object that is still as planned, with the attachments that the plan names. */
async function remove(step: Step, fresh: LiveResource, state: ApplyState): Promise<StepResult> {
  const { input, written } = state;
  if (fresh.managedBy !== undefined) return failManaged(fresh.managedBy);
  const obstacles = await findDeletionObstacles(step, fresh, state);
  if (obstacles.length > 0) return failStep('apply/moved', `it changed since the plan, so it is not deleted: ${obstacles.join('; ')}`);
  await startWrite([step.change.id], step.part, 'delete', input);
  await input.gateway.remove(fresh);
  written.push({ step, id: fresh.id });
  input.observe({ event: 'written', id: step.change.id, step: step.part });
  return { status: 'done' };
}

/** Reads the object that exists already under the key of a creation, with the secrets that lists omit. */
async function findByKey(step: Step, { input }: ApplyState): Promise<LiveResource | undefined> {
  const { value } = await input.gateway.readAll(kindsToRead([step.kind]));
  const found = value?.resources.find((resource) => resource.id === liveKeyOf(step.change));
  return found?.leftOut === undefined ? found : input.gateway.readOne(found);
}

/** Accepts an object that was created since, for example by an earlier run of this plan, if it matches the creation. */
async function acceptExisting(step: Step, found: LiveResource, state: ApplyState): Promise<StepResult> {
  const { input, known } = state;
  if (found.managedBy !== undefined) return failManaged(found.managedBy);
  if (!matchesCreation(step, found, input))
    return failStep('apply/moved', 'it was created outside Ostiary since the plan and differs from it');
  const hidden = unreadableSecrets(step, found, input.secretOf);
  if (hidden.length > 0)
    return failStep(
      'apply/moved',
      `it was created outside Ostiary since the plan, and its secrets cannot be compared: ${hidden.join(', ')}`,
    );
  known.set(found.id, found);
  noteSecrets(step, found, state);
  return withoutMissingRow(step, found, input) === step ? { status: 'already' } : completeRow(step, found, state);
}

/** Writes the row of an object whose creation was interrupted before it. */
async function completeRow(step: Step, found: LiveResource, { input, written }: ApplyState): Promise<StepResult> {
  const creation = requestOf(step, input.secretOf);
  const rows = rowFieldsOf(input.live, step.kind.name).map(({ name }) => [name, creation.spec[name] ?? null] as const);
  const request = { ...creation, spec: { ...found.spec, ...Object.fromEntries(rows) }, secrets: {}, dropped: [], edges: found.edges };
  await startWrite([step.change.id], step.part, 'update', input);
  await input.gateway.update(found, request);
  written.push({ step, id: request.id, request });
  input.observe({ event: 'written', id: step.change.id, step: step.part });
  return { status: 'done' };
}

/** Returns a creation without the row that the object does not have yet; the same step if nothing is missing. */
function withoutMissingRow(step: Step, found: LiveResource, { live }: Pick<ApplyInput, 'live'>): Step {
  const { fields } = step.change;
  const rest = fields.filter(({ path, after }) => !isMissingRow(path, found, live) || ('value' in after && equal(after.value, [])));
  return rest.length === fields.length ? step : { ...step, change: { ...step.change, fields: rest } };
}

/** Returns the secrets that the object may have with other values than the creation sets, and the maps of secrets that may have more. */
function unreadableSecrets(step: Step, found: LiveResource, secretOf: SecretLookup): readonly Pointer[] {
  const set = Object.keys(requestOf(step, secretOf).secrets).filter((path) => found.secrets[path]?.state !== 'value');
  const maps = step.kind.fields.flatMap(({ name, secret }) => (secret === 'base64' ? [pointer(name)] : []));
  return [...set, ...maps.filter((map) => found.unknown.includes(map) && !set.some((path) => isPointerWithin(path, map)))];
}

/** Returns whether an object is what the creation would make, complete, still closed or still without its row, as far as the token may read it. */
export function matchesCreation(step: Step, found: LiveResource, { secretOf, live }: Pick<ApplyInput, 'secretOf' | 'live'>): boolean {
  const own = withoutMissingRow(step, found, { live });
  const forms: readonly Step[] = [own, { ...own, part: 'whole' }];
  return forms.some((form) => {
    const request = requestOf(form, secretOf);
    return findUnkept({ step: form, id: request.id, request }, found).length === 0 && findExtras(request, step.kind, found).length === 0;
  });
}

async function update(step: Step, { fresh, release }: Room, state: ApplyState): Promise<StepResult> {
  const { input, written } = state;
  if (fresh.managedBy !== undefined) return failManaged(fresh.managedBy);
  const seen = input.seen?.get(liveKeyOf(step.change));
  const hasBegun = seen?.begun === true || state.secretVersions.has(liveKeyOf(step.change));
  const changed = step.part === 'name' && seen === undefined ? [] : changesSincePlan(step.change, step.kind, fresh, { seen, hasBegun });
  if (changed.length > 0) return failStep('apply/moved', `it changed since the plan: ${changedFieldsText(changed)}`);
  const request = requestOf(step, input.secretOf, fresh);
  if (isInSync(request, step.kind, fresh)) {
    if (step.part !== 'close') noteSecrets(step, fresh, state);
    if (!state.switched.has(step.change.id)) return { status: 'already' };
    written.push({ step, id: request.id, request });
    return { status: 'done' };
  }
  await startWrite([step.change.id], step.part, 'update', input);
  const updated = await input.gateway.update(fresh, request, release);
  noteSecrets(step, updated, state);
  written.push({ step, id: request.id, request });
  input.observe({ event: 'written', id: step.change.id, step: step.part });
  return { status: 'done' };
}

/** Keeps the version of the secrets that the step wrote, or found as it would have written them. */
function noteSecrets({ change }: Step, { uid, secretsVersion: version }: LiveResource, { secretVersions }: ApplyState): void {
  secretVersions.set(liveKeyOf(change), { uid, version });
}

function failManaged(by: string): StepResult {
  return failStep('plan/managed', `it became managed by ${by} since the plan`);
}

function failStep(code: NonNullable<StepResult['code']>, message: string): StepResult {
  return { status: 'failed', code, message, hint: 'plan again' };
}

function changedFieldsText(fields: readonly ChangedField[]): string {
  return fields.map(changedFieldText).join('; ');
}

/**
 * Returns why an object must not be deleted: a field or a secret differs from the plan, also one that was empty, or an
 * attachment exists that the plan does not detach. Attachments that are gone since the plan do not count: the deletion does less.
 */
async function findDeletionObstacles(step: Step, fresh: LiveResource, state: ApplyState): Promise<readonly string[]> {
  const fields = [...changedFields(step, fresh).map(changedFieldText), ...changedSecrets(step, fresh, state)];
  const others = await endsOnOtherSide(step, fresh, state);
  if (others === undefined) return [...fields, 'its attachments could not be read completely'];
  const ends = [...Object.values(fresh.edges).flat(), ...others];
  const planned = new Set(detachedEnds(state.input.plan.edges).get(liveKeyOf(step.change)));
  const added = [...new Set(ends)].filter((id) => !planned.has(id)).toSorted(compareText);
  return [...fields, ...added.map((id) => `it has an attachment to ${id} that is not in the plan`)];
}

/**
 * Compares all fields: a deletion names every field that is not empty, so each field that it does not name was empty. A field may
 * have the value that closes the object, because the plan closes it first, and no groups, because the plan may have switched access control on. A rule
 * may have let go of attributes, as of attachments.
 */
function changedFields({ change, kind }: Step, fresh: LiveResource): readonly ChangedField[] {
  const planned = new Map(change.fields.map(({ path, before }) => [path, 'value' in before ? before.value : undefined]));
  return kind.fields.filter(isCompared).flatMap(({ name, empty, closed, implied, late }): readonly ChangedField[] => {
    const path = pointer(name);
    const from = planned.get(path) ?? empty;
    const now = fresh.spec[name] ?? empty;
    const isStricter = (closed !== undefined && equal(closed, now)) || (implied !== undefined && from === null && equal(now, []));
    const isLess = late === 'joined' && textsIn(now).every((attribute) => textsIn(from).includes(attribute));
    return equal(from, now) || isStricter || isLess ? [] : [{ path, from, now, desired: undefined }];
  });
}

/** Compares the keys of secrets with the plan, and values and versions with those that were read when the run began. */
function changedSecrets({ change, kind }: Step, fresh: LiveResource, { input, secretVersions }: ApplyState): readonly string[] {
  const key = liveKeyOf(change);
  const read = liveById(input.live.resources).get(key);
  const unread = [...(input.seen?.get(key)?.without ?? []), ...(read?.unknown ?? []), ...(read?.leftOut ?? []), ...fresh.unknown];
  const planned = new Set(change.fields.flatMap(({ path, before }) => ('secret' in before ? [path] : [])));
  const differs = (path: Pointer): boolean => {
    if (unread.some((hidden) => isPointerWithin(path, hidden))) return false;
    const [before, now] = [read?.secrets[path], fresh.secrets[path]];
    if (planned.has(path) !== (now !== undefined)) return true;
    return before?.state === 'value' && now?.state === 'value' && !before.equals(now);
  };
  const paths = [...new Set([...planned, ...Object.keys(fresh.secrets)])].filter(differs).toSorted(compareText);
  if (paths.length > 0) return paths.map((path) => `${path} changed since the plan`);
  const versions = [(secretVersions.get(key) ?? { version: read?.secretsVersion }).version, fresh.secretsVersion];
  const isRewritten = versions.every((version) => version !== undefined) && versions[0] !== versions[1];
  return isRewritten
    ? kind.fields.flatMap(({ name, secret }) => (secret === undefined ? [] : [`/${name} was written since the plan`]))
    : [];
}

/** Returns, for each object, the other ends of the attachments that the plan detaches. */
const detachedEnds = memoizeByObject((edges: readonly EdgeChange[]) => {
  const detached = edges.filter(({ action }) => action === 'detach');
  return groupPairs(detached.flatMap(({ rule, connection }) => [[rule, connection] as const, [connection, rule] as const]));
});

/** Returns, for each object, the objects that list it in their attachments. */
const objectsThatList = memoizeByObject((resources: readonly LiveResource[]) =>
  groupPairs(resources.flatMap(({ id, edges }) => [...new Set(Object.values(edges).flat())].map((end) => [end, id] as const))),
);

function groupPairs(pairs: readonly (readonly [ResourceId, ResourceId])[]): ReadonlyMap<ResourceId, readonly ResourceId[]> {
  const groups = new Map<ResourceId, ResourceId[]>();
  for (const [id, other] of pairs) addToGroup(groups, id, other);
  return groups;
}

/** Reads the attachments that only their other end lists, such as those of masking rules to a connection, and that go with it; undefined if the list is not complete. */
async function endsOnOtherSide({ kind }: Step, { id }: LiveResource, state: ApplyState): Promise<readonly ResourceId[] | undefined> {
  const listed = new Set(kind.fields.flatMap(({ edge, refers }) => (edge === undefined ? [] : [refers])));
  const others = [...state.input.registry.values()].filter(
    ({ name, fields }) =>
      !listed.has(name) && fields.some(({ edge, refers, byName }) => edge !== undefined && byName !== true && refers === kind.name),
  );
  if (others.length === 0) return [];
  const live = await readOncePerRound(kindsToRead(others), state);
  return live === undefined ? undefined : (objectsThatList(live.resources).get(id) ?? []);
}

/** Reads the kinds once for all deletions of a round. */
async function readOncePerRound(kinds: readonly string[], { input, roundReads }: ApplyState): Promise<LiveState | undefined> {
  const key = kinds.join(' ');
  const reading = roundReads.get(key) ?? input.gateway.readAll(kinds);
  roundReads.set(key, reading);
  return (await reading).value;
}
