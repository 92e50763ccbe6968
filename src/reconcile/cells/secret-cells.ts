import type { DesiredResource } from '../../model/desired.ts';
import { compareText, defined } from '../../model/json.ts';
import type { LiveResource } from '../../model/live.ts';
import type { FieldChange, UncomparedReason, Value } from '../../model/plan/plan.ts';
import { isPointerWithin, isWithinAny, type Pointer } from '../../model/pointer.ts';
import type { DesiredSecret, LiveSecret } from '../../model/secret.ts';
import { isToolList, toolText } from '../../model/spec/tool-lists.ts';
import { type Cell, hasSameContent, prove, type SecretSide, type Side } from './cell.ts';

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

/** The secrets of one resource in every state. */
type SecretStates = {
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

/** Returns what a manifest states of a secret. */
export function secretSide({ secrets, wholeSecrets, ignore }: DesiredResource, path: Pointer): Side {
  const secret = secrets[path];
  if (isWithinAny(path, ignore)) return { is: 'left' };
  if (secret !== undefined) return { is: 'secret', source: secret.source, proof: secret };
  return isWithinAny(path, wholeSecrets) ? { is: 'absent', at: path } : { is: 'left' };
}

/** Returns what the gateway has of a secret, as far as the token may read it. */
export function liveSecretSide({ secrets, unknown }: LiveResource, path: Pointer): Side {
  const secret = secrets[path];
  if (secret?.state !== 'hidden' && isWithinAny(path, unknown)) return { is: 'unread' };
  return secret === undefined ? { is: 'absent', at: path } : { is: 'secret', source: 'live', proof: secret };
}

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
  const found: MutableComparison = { fields: [], unwritten: [], kept: [], notCompared: new Map(), missing: [] };
  if (live === undefined) {
    for (const path of Object.keys(desired.secrets).toSorted(compareText)) {
      const head = secretSide({ ...desired, ignore: [] }, path);
      if (head.is === 'secret') compareStated({ path, base: undefined, head, live: { is: 'absent', at: '' }, written: [] }, head, found);
    }
    return found;
  }
  const states = { desired, live, base, written };
  const paths = [desired, live, base, ...written].map((one) => Object.keys(one?.secrets ?? {}));
  // What the manifest states comes first.
  const [stated = [], ...others] = paths.map((some) => some.toSorted(compareText));
  for (const path of new Set([...stated, ...others.flat().toSorted(compareText)])) compareCell(secretCell(path, states), states, found);
  for (const path of desired.wholeSecrets) compareKeys(path, states, found);
  for (const path of changedMaps(states)) nameMap(path, states, found);
  return changedOnGateway(states, found);
}

type LiveStates = SecretStates & { readonly live: LiveResource };

function secretCell(path: Pointer, { desired, live, base, written }: LiveStates): Cell {
  return {
    path,
    base: base && secretSide(base, path),
    head: secretSide(desired, path),
    live: liveSecretSide(live, path),
    written: written.map((form) => secretSide(form, path)).filter(isWritten),
  };
}

/** What a manifest keeps or leaves to the gateway, it does not write. */
function isWritten(side: Side): boolean {
  return side.is === 'absent' || isSet(side);
}

function isSet(side: Side): boolean {
  return side.is === 'secret' && side.proof.state !== 'keep';
}

/** Returns whether a manifest sets the value of a secret, and neither keeps nor ignores that of the gateway. */
export function setsSecret(manifest: DesiredResource, path: Pointer): boolean {
  return isSet(secretSide(manifest, path));
}

function compareCell(cell: Cell, states: LiveStates, found: MutableComparison): void {
  const { path, head, live, base, written } = cell;
  if (head.is === 'secret') {
    compareStated(cell, head, found, whyUnread(path, states.live));
    return;
  }
  const applied = secretIn(base);
  if (head.is === 'left') {
    if (live.is === 'secret' && !Object.hasOwn(states.desired.secrets, path)) found.kept.push(path);
    if (applied === undefined) return;
    if (!isWithinAny(path, states.desired.ignore)) found.unwritten.push(removalOf(path, applied));
    else if (applied.proof.state !== 'keep')
      found.unwritten.push({ path, before: { secret: applied.source, state: 'unknown' }, after: { secret: 'ignored', state: 'kept' } });
  } else if (live.is === 'secret') {
    found.fields.push(withTexts({ path, before: { secret: 'live', state: 'removed' }, after: absent }, live, undefined));
  } else if (live.is === 'unread') {
    const secret = applied ?? written.map(secretIn).find((one) => one !== undefined);
    if (secret !== undefined) found.fields.push(removalOf(path, secret));
  } else if (applied !== undefined) found.unwritten.push(removalOf(path, applied));
}

/** Compares a secret that the manifest states: a value, or that it keeps that of the gateway. */
function compareStated(cell: Cell, head: SecretSide, found: MutableComparison, why: UncomparedReason = 'hidden'): void {
  const { path, live, base, written } = cell;
  const change = base && changeSince(base, cell, head);
  const set: FieldChange = { path, before: absent, after: { secret: head.source, state: 'set' } };
  if (head.proof.state === 'keep') {
    if (live.is === 'absent') {
      found.missing.push(set);
      return;
    }
    if (live.is === 'unread') found.notCompared.set(path, why);
    if (change !== undefined) found.unwritten.push({ ...change, after: { secret: head.source, state: 'kept' } });
    return;
  }
  if (live.is === 'absent') {
    found.fields.push(withTexts(set, undefined, head));
    return;
  }
  const proof = prove(head, live);
  if (proof === 'unknown') {
    const unread = change ?? written.flatMap((form) => changeSince(form, cell, head) ?? [])[0];
    if (unread === undefined) found.notCompared.set(path, why);
    else found.fields.push(unread);
  } else if (proof === 'equal') {
    if (change !== undefined) found.unwritten.push(withTexts(change, secretIn(base), head));
  } else {
    const differing = { before: { secret: 'live', state: 'differs' }, after: { secret: head.source, state: 'differs' } } as const;
    found.fields.push(withTexts({ path, ...differing }, secretIn(live), head));
  }
}

/** Returns what the manifests changed about a secret since an earlier form of them; undefined without a change. */
function changeSince(earlier: Side, { path, live }: Cell, head: SecretSide): FieldChange | undefined {
  if (prove(earlier, head) !== 'different') return undefined;
  const was = secretIn(earlier);
  if (was === undefined && live.is !== 'secret') return { path, before: absent, after: { secret: head.source, state: 'set' } };
  const cause = was?.source === head.source ? ({ cause: hasSameContent(was, head) ? 'inline' : 'file' } as const) : {};
  return { path, before: { secret: was?.source ?? 'live', state: 'unknown' }, after: { secret: head.source, state: 'unknown' }, ...cause };
}

function secretIn(side: Side | undefined): SecretSide | undefined {
  return side?.is === 'secret' ? side : undefined;
}

/** Returns a change of a list of tools with its texts, where both are known: it is a setting, which plans show. */
function withTexts({ cause, ...change }: FieldChange, was: SecretSide | undefined, wanted: SecretSide | undefined): FieldChange {
  const [before, after] = [was, wanted].map((one) => (one === undefined ? absent : textOf(one.proof)));
  const isShown = isToolList(change.path) && before !== undefined && after !== undefined;
  return isShown ? { ...change, before, after } : { ...change, ...defined({ cause }) };
}

function textOf(secret: DesiredSecret | LiveSecret): Value | undefined {
  const text = toolText(secret);
  return text === undefined ? undefined : { value: text };
}

function removalOf(path: Pointer, { source }: SecretSide): FieldChange {
  return { path, before: { secret: source, state: 'removed' }, after: absent };
}

/** Compares the keys of a map that the manifest states as a whole, and whose live keys this token may not see. */
function compareKeys(path: Pointer, states: LiveStates, found: MutableComparison): void {
  const { desired, live, base } = states;
  if (!isWithinAny(path, live.unknown) || isWithinAny(path, desired.ignore)) return;
  const isNew = base !== undefined && !base.wholeSecrets.includes(path);
  const isListed = [...Object.keys(desired.secrets), ...Object.keys(live.secrets)].some((key) => isPointerWithin(key, path));
  if (isNew && live.secrets[path] === undefined) found.fields.push({ path, before: { secret: 'live', state: 'unknown' }, after: absent });
  else if (!isListed) found.notCompared.set(path, whyUnread(path, live));
}

/** Returns the maps that only one of manifest and base states as a whole. */
function changedMaps({ desired, base }: SecretStates): readonly Pointer[] {
  if (base === undefined) return [];
  const both = [...new Set([...desired.wholeSecrets, ...base.wholeSecrets])];
  return both.filter((path) => desired.wholeSecrets.includes(path) !== base.wholeSecrets.includes(path));
}

/** Names a map that the manifests state since the base, or no longer state, if none of its keys shows that. */
function nameMap(path: Pointer, states: LiveStates, found: MutableComparison): void {
  const isNamed = [...found.fields, ...found.unwritten].some((field) => isPointerWithin(field.path, path));
  if (isNamed || isWithinAny(path, states.desired.ignore)) return;
  const stated: Value = { secret: 'stated', state: 'kept' };
  const isNew = states.desired.wholeSecrets.includes(path);
  found.unwritten.push({ path, before: isNew ? absent : stated, after: isNew ? stated : absent });
}

/**
 * Turns secrets that were not compared into drift if the gateway is proven to have changed some secret of the object since the last
 * apply, and no other one can explain that: a value that differs, or one that the manifest leaves to the gateway.
 */
function changedOnGateway(states: LiveStates, found: MutableComparison): SecretComparison {
  const { desired, live } = states;
  const isSeen = ({ path, before }: FieldChange): boolean => {
    if ('value' in before) return true;
    return 'secret' in before ? before.secret === 'live' && before.state !== 'unknown' : states.base?.secrets[path] !== undefined;
  };
  const isExplained =
    found.fields.some(isSeen) ||
    Object.entries(desired.secrets).some(([path, { state }]) => state === 'keep' || isWithinAny(path, desired.ignore)) ||
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

/** Returns why a live value is not known: the token may not read it, or nothing to compare it with was read, so the object was not. */
function whyUnread(path: Pointer, { unknown, leftOut = [] }: LiveResource): UncomparedReason {
  return isWithinAny(path, unknown) && !isWithinAny(path, leftOut) ? 'hidden' : 'unresolved';
}
