import type { DesiredResource } from '../model/desired.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { editSpec } from '../model/edit.ts';
import type { FieldRule } from '../model/field.ts';
import { compareText, equal, isObject, type Json, type JsonObject } from '../model/json.ts';
import type { Kind } from '../model/kind.ts';
import type { LiveResource, LiveState } from '../model/live.ts';
import type { Change, FieldChange, Value } from '../model/plan.ts';
import { isWithin, pointer, tokensOf, type Pointer } from '../model/pointer.ts';
import { nameOf } from '../model/resource.ts';
import { compareSpecs } from './compare.ts';
import { resolveReferences } from './references.ts';
import { compareSecrets } from './secrets.ts';

/** One resource's change before edges and order are known; `fields` may be empty. */
export type Draft = Omit<Change, 'needs' | 'reasons' | 'action'> & { readonly action: 'create' | 'update' };

export type Drafted = { readonly draft: Draft; readonly diagnostics: readonly Diagnostic[] };

/** Compares one desired resource with its live counterpart. */
export function draftChange(kind: Kind, desired: DesiredResource, found: LiveResource | undefined, state: LiveState): Drafted {
  const { spec, diagnostics } = resolveReferences(kind, desired, found, state);
  return found === undefined
    ? draftCreate(kind, { ...desired, spec }, diagnostics)
    : draftUpdate(kind, { ...desired, spec }, found, diagnostics);
}

function draftCreate(kind: Kind, desired: DesiredResource, diagnostics: readonly Diagnostic[]): Drafted {
  const defaults = kind.createDefaults(nameOf(desired.id));
  const spec = { ...defaults, ...desired.spec };
  const secrets = compareSecrets(desired, undefined);
  const fields = comparedFields(kind).flatMap((field): readonly FieldChange[] => {
    const value = spec[field.name];
    const says = value !== undefined && (field.required || !equal(value, field.empty));
    return says ? [{ path: pointer(field.name), before: { absent: true }, after: { value } }] : [];
  });
  const all = [...fields, ...secrets.fields];
  return {
    draft: {
      ...identity(desired),
      action: 'create',
      fields: placed(all, desired),
      carried: [],
      touched: { before: {}, after: masked({}, all, 'after', kind.fields) },
    },
    diagnostics: [...diagnostics, ...secrets.diagnostics],
  };
}

function draftUpdate(kind: Kind, desired: DesiredResource, live: LiveResource, diagnostics: readonly Diagnostic[]): Drafted {
  const skip = [...desired.ignore, ...live.unknown];
  const secrets = compareSecrets(desired, live);
  const all = [...compareSpecs(comparedFields(kind), desired.spec, live.spec, skip), ...secrets.fields];
  const touched =
    all.length === 0
      ? undefined
      : { before: masked(live.spec, all, 'before', kind.fields), after: masked(live.spec, all, 'after', kind.fields) };
  return {
    draft: {
      ...identity(desired),
      action: 'update',
      uid: live.uid,
      ...(live.managedBy === undefined ? {} : { managedBy: live.managedBy }),
      fields: all.length === 0 ? [] : placed(all, desired),
      carried: all.length === 0 ? [] : carriedPaths(kind, desired, live, secrets.kept),
      ...(touched === undefined ? {} : { touched }),
    },
    diagnostics: [...diagnostics, ...secrets.diagnostics],
  };
}

function identity(desired: DesiredResource): Pick<Draft, 'id' | 'key' | 'at'> {
  return { id: desired.id, ...(desired.key === desired.id ? {} : { key: desired.key }), at: desired.at };
}

/** The fields that are compared one by one: no secrets, no edges, nothing that only manifests have. */
function comparedFields(kind: Kind): readonly FieldRule[] {
  return kind.fields.filter((field) => field.secret === undefined && field.edge === undefined && field.manifestOnly !== true);
}

/** Live values that a write carries although the manifest does not state them: ignored, unknown, kept. */
function carriedPaths(kind: Kind, desired: DesiredResource, live: LiveResource, keptSecrets: readonly Pointer[]): readonly Pointer[] {
  const kept = comparedFields(kind).flatMap((field) => {
    const value = live.spec[field.name];
    const carries = desired.spec[field.name] === undefined && value !== undefined && !equal(value, field.empty);
    return carries ? [pointer(field.name)] : [];
  });
  const all = [...kept, ...desired.ignore, ...live.unknown, ...keptSecrets];
  return [...new Set(all)].filter((path) => !all.some((other) => other !== path && isWithin(path, other))).toSorted(compareText);
}

function placed(fields: readonly FieldChange[], desired: DesiredResource): readonly FieldChange[] {
  return fields.map((field) => ({ ...field, at: desired.locate(field.path) }));
}

/** The touched top-level fields as one document, secrets as their source. */
function masked(base: JsonObject, fields: readonly FieldChange[], side: 'before' | 'after', rules: readonly FieldRule[]): JsonObject {
  const plain = fields.filter((field) => !('secret' in field.before) && !('secret' in field.after));
  const tops = [...new Set(plain.map((field) => tokensOf(field.path)[0] ?? ''))];
  const spec =
    side === 'before'
      ? base
      : editSpec(
          rules,
          base,
          plain.map((field) => ({ path: field.path, value: jsonOf(field.after) })),
        );
  const result: Record<string, Json> = {};
  for (const top of tops) {
    const value = spec[top];
    if (value !== undefined) result[top] = value;
  }
  return { ...result, ...maskedSecrets(fields, side) };
}

function maskedSecrets(fields: readonly FieldChange[], side: 'before' | 'after'): JsonObject {
  const result: Record<string, Json> = {};
  for (const field of fields) {
    const value = field[side];
    const [top, key] = tokensOf(field.path);
    if (top === undefined || !('secret' in field.before || 'secret' in field.after)) continue;
    const text = 'secret' in value ? `(secret ${value.secret})` : undefined;
    if (key === undefined) {
      if (text !== undefined) result[top] = text;
    } else {
      const map = result[top];
      result[top] = { ...(isObject(map) ? map : {}), ...(text === undefined ? {} : { [key]: text }) };
    }
  }
  return result;
}

/** The JSON of a value that is one. */
export function jsonOf(value: Value): Json | undefined {
  return 'value' in value ? value.value : undefined;
}
