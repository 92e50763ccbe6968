import { type DesiredResource, leftSecrets } from '../../model/desired.ts';
import { compareText } from '../../model/json.ts';
import type { LiveResource } from '../../model/live.ts';
import type { FieldChange, UncomparedReason, Value } from '../../model/plan/plan.ts';
import { isPointerWithin, isWithinAny, type Pointer } from '../../model/pointer.ts';
import type { DesiredSecret, LiveSecret } from '../../model/secret.ts';
import { isSameSecretSource } from './cell.ts';
import { isToolList, toolText } from '../../model/spec/tool-lists.ts';

/** The changes of the secrets of one resource, without their values. */
type SecretComparison = {
  /** What apply writes: values that differ from live, and what the manifests changed where live cannot be compared. */
  readonly fields: readonly FieldChange[];
  /** What the manifests changed since the base, and apply does not write: the gateway has the value, or the manifest keeps it. */
  readonly unwritten: readonly FieldChange[];
  /** Live secrets that certainly stay as they are although the manifest does not mention them. */
  readonly kept: readonly Pointer[];
  /** Secrets whose live value was not compared with that of the manifest. */
  readonly notCompared: ReadonlyMap<Pointer, UncomparedReason>;
  /** Secrets that the manifest keeps and the gateway does not have, as changes that cannot be applied. */
  readonly missing: readonly FieldChange[];
};

/** Both sides of the secrets of one resource. */
type SecretSides = {
  readonly desired: DesiredResource;
  readonly live: LiveResource | undefined;
  /** The manifest at the base; undefined if that is not known. */
  readonly base: DesiredResource | undefined;
  /** The manifests that incomplete applies may have written since. */
  readonly written: readonly DesiredResource[];
};

type MutableComparison = {
  readonly fields: FieldChange[];
  readonly unwritten: FieldChange[];
  readonly kept: Pointer[];
  readonly notCompared: Map<Pointer, UncomparedReason>;
  readonly missing: FieldChange[];
};

const absent: Value = { absent: true };

/**
 * Compares the secrets of a manifest twice: with live, as far as the token may read live and the run resolves sources, and with the
 * base. Whatever the manifests changed since the base is a change even if live cannot be read, and so is what an incomplete apply may have
 * written otherwise. A secret that is the same as in both, or has neither, and that cannot be compared with live, is not compared.
 */
export function compareSecrets(
  desired: DesiredResource,
  live: LiveResource | undefined,
  base?: DesiredResource,
  written: readonly DesiredResource[] = [],
): SecretComparison {
  const sides: SecretSides = { desired, live, base, written };
  const found: MutableComparison = { fields: [], unwritten: [], kept: [], notCompared: new Map(), missing: [] };
  for (const path of Object.keys(desired.secrets).toSorted(compareText)) {
    const wanted = desired.secrets[path];
    if (wanted !== undefined && !isIgnored(path, sides)) compareDeclared(path, wanted, sides, found);
  }
  if (live === undefined) return found;
  for (const path of base === undefined ? [] : leftSecrets(desired, base)) nameIgnored(path, { ...sides, live }, found);
  const others = [live, base, ...written].flatMap((one) => Object.keys(one?.secrets ?? {}));
  for (const path of [...new Set(others)].toSorted(compareText))
    if (!Object.hasOwn(desired.secrets, path)) compareUndeclared(path, { ...sides, live }, found);
  for (const path of desired.wholeSecrets) compareKeys(path, { ...sides, live }, found);
  for (const path of changedMaps(sides)) nameMap(path, { ...sides, live }, found);
  return changedOnGateway({ ...sides, live }, found);
}

function compareDeclared(path: Pointer, wanted: DesiredSecret, sides: SecretSides, found: MutableComparison): void {
  const { live } = sides;
  const value = live?.secrets[path];
  const isHidden = isUnknown(path, live) || value?.state === 'hidden';
  const change = changeSince(sides.base, path, wanted, live);
  if (wanted.state === 'keep') {
    if (value === undefined && !isHidden) {
      found.missing.push({ path, before: absent, after: { secret: wanted.source, state: 'set' } });
      return;
    }
    if (value === undefined) found.notCompared.set(path, whyUnread(path, live));
    if (change !== undefined) found.unwritten.push({ ...change, after: { secret: wanted.source, state: 'kept' } });
  } else if (value === undefined && !isHidden) {
    found.fields.push(withTexts({ path, before: absent, after: { secret: wanted.source, state: 'set' } }, undefined, wanted));
  } else if (value?.state === 'value' && !isHidden && wanted.state === 'value') {
    const sidesOf = { before: { secret: 'live', state: 'differs' }, after: { secret: wanted.source, state: 'differs' } } as const;
    if (!wanted.equals(value)) found.fields.push(withTexts({ path, ...sidesOf }, value, wanted));
    else if (change !== undefined) found.unwritten.push(withTexts(change, sides.base?.secrets[path], wanted));
  } else {
    const changes = [change, ...formsThatWrite(path, sides).map((form) => changeSince(form, path, wanted, live))];
    const unread = changes.find((one) => one !== undefined);
    // A value that was not read, because nothing was there to compare it with, is not hidden from the token.
    if (unread === undefined) found.notCompared.set(path, isUnknown(path, live) ? whyUnread(path, live) : 'unresolved');
    else found.fields.push(unread);
  }
}

type LiveSides = SecretSides & { readonly live: LiveResource };

/** Returns a change of a list of tools with its texts, where both are known: it is a setting, which plans show. */
function withTexts(
  { cause, ...change }: FieldChange,
  was: DesiredSecret | LiveSecret | undefined,
  wanted: DesiredSecret | undefined,
): FieldChange {
  const [before, after] = [was, wanted].map((one) => (one === undefined ? absent : textOf(one)));
  const isShown = isToolList(change.path) && before !== undefined && after !== undefined;
  return isShown ? { ...change, before, after } : { ...change, ...(cause === undefined ? {} : { cause }) };
}

function textOf(secret: DesiredSecret | LiveSecret): Value | undefined {
  const text = toolText(secret);
  return text === undefined ? undefined : { value: text };
}

/** Names a secret that the manifests ignore since the base. */
function nameIgnored(path: Pointer, sides: LiveSides, found: MutableComparison): void {
  const applied = sides.base?.secrets[path];
  if (applied === undefined || !isIgnored(path, sides)) return;
  const before: Value = { secret: applied.source, state: 'unknown' };
  found.unwritten.push({ path, before, after: { secret: 'ignored', state: 'kept' } });
}

/** Compares a secret that only live or the base has: removed, or kept where the manifest does not state the whole map. */
function compareUndeclared(path: Pointer, sides: LiveSides, found: MutableComparison): void {
  const { desired, live, base } = sides;
  const value = live.secrets[path];
  const applied = base?.secrets[path];
  const isOurs = !isIgnored(path, sides) && isWithinAny(path, desired.wholeSecrets);
  if (!isOurs) {
    if (value !== undefined) found.kept.push(path);
    if (applied !== undefined && !isIgnored(path, sides)) found.unwritten.push(removalOf(path, applied));
  } else if (value !== undefined) {
    found.fields.push(withTexts({ path, before: { secret: 'live', state: 'removed' }, after: absent }, value, undefined));
  } else if (!isUnknown(path, live)) {
    if (applied !== undefined) found.unwritten.push(removalOf(path, applied));
  } else {
    const secret = applied ?? formsThatWrite(path, sides).find(({ secrets }) => secrets[path] !== undefined)?.secrets[path];
    if (secret !== undefined) found.fields.push(removalOf(path, secret));
  }
}

/** Compares the keys of a map that the manifest states as a whole, and whose live keys this token may not see. */
function compareKeys(path: Pointer, sides: LiveSides, found: MutableComparison): void {
  const { desired, live, base } = sides;
  if (!isUnknown(path, live) || isIgnored(path, sides)) return;
  const isNew = base !== undefined && !base.wholeSecrets.includes(path);
  const isListed = [...Object.keys(desired.secrets), ...Object.keys(live.secrets)].some((key) => isPointerWithin(key, path));
  if (isNew && live.secrets[path] === undefined) found.fields.push({ path, before: { secret: 'live', state: 'unknown' }, after: absent });
  else if (!isListed) found.notCompared.set(path, whyUnread(path, live));
}

/** Returns the maps that only one of manifest and base states as a whole. */
function changedMaps({ desired, base }: SecretSides): readonly Pointer[] {
  if (base === undefined) return [];
  const both = [...new Set([...desired.wholeSecrets, ...base.wholeSecrets])];
  return both.filter((path) => desired.wholeSecrets.includes(path) !== base.wholeSecrets.includes(path));
}

/** Names a map that the manifests state since the base, or no longer state, if none of its keys shows that. */
function nameMap(path: Pointer, sides: LiveSides, found: MutableComparison): void {
  const isNamed = [...found.fields, ...found.unwritten].some((field) => isPointerWithin(field.path, path));
  if (isNamed || isIgnored(path, sides)) return;
  const stated: Value = { secret: 'stated', state: 'kept' };
  const isNew = sides.desired.wholeSecrets.includes(path);
  found.unwritten.push({ path, before: isNew ? absent : stated, after: isNew ? stated : absent });
}

/**
 * Turns secrets that were not compared into drift if the gateway is proven to have changed some secret of the object since the last
 * apply, and no other one can explain that: a value that differs, or one that the manifest leaves to the gateway.
 */
function changedOnGateway(sides: LiveSides, found: MutableComparison): SecretComparison {
  const { desired, live } = sides;
  const isSeen = ({ path, before }: FieldChange): boolean => {
    if ('value' in before) return true;
    return 'secret' in before ? before.secret === 'live' && before.state !== 'unknown' : sides.base?.secrets[path] !== undefined;
  };
  const isExplained =
    found.fields.some(isSeen) ||
    Object.entries(desired.secrets).some(([path, { state }]) => state === 'keep' || isIgnored(path, sides)) ||
    Object.keys(live.secrets).some((path) => !Object.hasOwn(desired.secrets, path));
  if (live.changedSecrets !== 'gateway' || found.notCompared.size === 0 || isExplained) return found;
  const drifted = [...found.notCompared.keys()].flatMap((path): readonly FieldChange[] => {
    const secret = desired.secrets[path];
    if (secret === undefined) return [];
    const sidesOf = { before: { secret: 'live', state: 'unknown' }, after: { secret: secret.source, state: 'unknown' } } as const;
    return [{ path, ...sidesOf, cause: 'gateway' }];
  });
  const paths = new Set(drifted.map(({ path }) => path));
  return {
    ...found,
    fields: [...found.fields, ...drifted].toSorted((one, other) => compareText(one.path, other.path)),
    notCompared: new Map([...found.notCompared].filter(([path]) => !paths.has(path))),
  };
}

/** Returns the forms with which an incomplete apply may have written or removed a secret. */
function formsThatWrite(path: Pointer, { written }: SecretSides): readonly DesiredResource[] {
  return written.filter(({ secrets, wholeSecrets, ignore }) => {
    const secret = secrets[path];
    const isStated = secret === undefined ? isWithinAny(path, wholeSecrets) : secret.state !== 'keep';
    return isStated && !isWithinAny(path, ignore);
  });
}

/** Returns what the manifests changed about a secret since an earlier form of them; undefined without one. */
function changeSince(
  base: DesiredResource | undefined,
  path: Pointer,
  wanted: DesiredSecret,
  live: LiveResource | undefined,
): FieldChange | undefined {
  const applied = base?.secrets[path];
  if (live === undefined || base === undefined || isSameSecretSource(wanted, applied)) return undefined;
  if (applied === undefined && live.secrets[path] === undefined)
    return { path, before: absent, after: { secret: wanted.source, state: 'set' } };
  const before: Value = { secret: applied?.source ?? 'live', state: 'unknown' };
  const cause = applied?.source !== wanted.source ? {} : ({ cause: wanted.content === applied.content ? 'inline' : 'file' } as const);
  return { path, before, after: { secret: wanted.source, state: 'unknown' }, ...cause };
}

function removalOf(path: Pointer, { source }: DesiredSecret): FieldChange {
  return { path, before: { secret: source, state: 'removed' }, after: absent };
}

/** Returns whether two manifests state the same secrets. */
export function haveSameSecrets(one: DesiredResource, other: DesiredResource): boolean {
  if (one === other || (one.secrets === other.secrets && one.wholeSecrets === other.wholeSecrets)) return true;
  if (one.wholeSecrets.join('\0') !== other.wholeSecrets.join('\0')) return false;
  for (const path in one.secrets) if (!isSameSecretSource(one.secrets[path], other.secrets[path])) return false;
  for (const path in other.secrets) if (one.secrets[path] === undefined) return false;
  return true;
}

function isIgnored(path: Pointer, { desired, live }: SecretSides): boolean {
  return live !== undefined && isWithinAny(path, desired.ignore);
}

/** Returns why a live value is not known: the token may not read it, or nothing to compare it with was read, so the object was not. */
function whyUnread(path: Pointer, live: LiveResource | undefined): UncomparedReason {
  return isWithinAny(path, live?.leftOut ?? []) ? 'unresolved' : 'hidden';
}

function isUnknown(path: Pointer, live: LiveResource | undefined): boolean {
  return live !== undefined && isWithinAny(path, live.unknown);
}
