import type { JsonObject } from '../../src/model/json.ts';
import type { Manifest } from '../support/scenario.ts';
import { connectionNames, isGuardrail, unmanagedNames, type Drawing, type DrawnConnection, type DrawnRule, type Drawn } from './drawing.ts';
import { textOf } from './gateway-objects.ts';
import type { Side, Sides } from './pair-fields.ts';

type NamedConnection = DrawnConnection & { readonly name: string };
type NamedRule = DrawnRule & { readonly name: string };
type SideContext = { readonly side: Side; readonly drawn: Drawing };

/** The value of a side: its own where the scenario lets the side differ. */
function on<Value>({ side, drawn: { scenario } }: SideContext, value: Sides<Value>): Value {
  const differs = side === 'desired' ? scenario !== 'drift' : side === 'live' ? ['drift', 'both', 'accepted'].includes(scenario) : false;
  const own = side === 'base' ? undefined : value[scenario === 'accepted' ? 'desired' : side];
  return differs && own !== undefined ? own : value.base;
}

export function replaces({ replaces: wanted, scenario }: Drawing): boolean {
  return wanted === true && scenario !== 'drift';
}

export function replacesMasking({ replacesMasking: wanted, scenario, ruleCount }: Drawing): boolean {
  return wanted === true && scenario !== 'drift' && ruleCount === 3;
}

/** The current manifests rename the first guardrail, and replace the first connection and the masking rule. */
function nameOn(name: string, { side, drawn }: SideContext): string {
  if (side !== 'desired') return name;
  if (name === 'g0' && drawn.renames === true && drawn.scenario !== 'drift') return 'renamed';
  if (name === 'c0' && replaces(drawn)) return 'successor';
  return name === 'm0' && replacesMasking(drawn) ? 'mask-next' : name;
}

type Named = { readonly present: Sides<boolean>; readonly name: string };

function isPresent({ present: there, name }: Named, context: SideContext): boolean {
  if (unmanagedNames.includes(name)) return context.side === 'live';
  return isReplacing(name, context) || on(context, there);
}

function isReplacing(name: string, { side, drawn }: SideContext): boolean {
  return side === 'desired' && ((name === 'c0' && replaces(drawn)) || (name === 'm0' && replacesMasking(drawn)));
}

/** Returns whether an object can be named on a side: unmanaged ones exist, so manifests may name them. */
function isKnown(one: Named, context: SideContext): boolean {
  return unmanagedNames.includes(one.name) || isPresent(one, context);
}

function valuesOn(drawnFields: Drawn, context: SideContext): JsonObject {
  const values = Object.entries(drawnFields).flatMap(([name, value]) => {
    const own = on(context, value);
    return own === undefined ? [] : [[name, own] as const];
  });
  return Object.fromEntries(values);
}

function metadataOf(one: Named & { readonly ignored: Sides<readonly string[] | undefined> }, context: SideContext): Manifest['metadata'] {
  const name = nameOn(one.name, context);
  const paths = context.side === 'live' ? [] : (on(context, one.ignored) ?? []);
  return {
    name,
    ...(paths.length === 0 ? {} : { ignore: paths }),
    ...(name === one.name ? {} : { [name === 'renamed' ? 'renamedFrom' : 'replaces']: one.name }),
  };
}

const sources: Readonly<Record<string, (text: string) => JsonObject>> = {
  env: (text) => ({ valueFrom: { env: `OSTIARY_SECRET_${text}` } }),
  inline: (text) => ({ value: text }),
  keep: () => ({ keep: true }),
};

function secretsOn(drawnSecrets: Drawn, context: SideContext): JsonObject {
  const given = Object.entries(valuesOn(drawnSecrets, context)).map(([key, source]) => {
    const [form = '', text = ''] = textOf(source).split(':');
    return [key, sources[form]?.(text) ?? {}] as const;
  });
  return given.length === 0 || !context.drawn.hasSecrets ? {} : { secret: Object.fromEntries(given) };
}

export function connectionManifest(one: NamedConnection, rules: readonly NamedRule[], context: SideContext): readonly Manifest[] {
  if (!isPresent(one, context)) return [];
  const index = connectionNames.findIndex((name) => name === one.name);
  const attached = rules.filter((rule) => {
    const edge = rule.edges[index];
    return isGuardrail(rule.name) && isKnown(rule, context) && edge !== undefined && ['connection', 'both'].includes(on(context, edge));
  });
  const { kind, ...fields } = valuesOn(one.fields, context);
  const [type = '', subtype = ''] = textOf(kind).split(' ');
  const spec = {
    type,
    subtype,
    ...fields,
    ...on(context, { base: undefined, ...one.approval }),
    ...(context.drawn.dialect === 'hoop' ? valuesOn(one.extra, context) : {}),
    ...secretsOn(one.secrets, context),
    ...valuesOn(one.resource, context),
    connection_tags: { env: on(context, one.tag) },
    guardrail_rules: attached.map((rule) => nameOn(rule.name, context)),
  };
  return [{ kind: 'Connection', metadata: metadataOf(one, context), spec }];
}

export function ruleManifest(one: NamedRule, connections: readonly NamedConnection[], context: SideContext): readonly Manifest[] {
  if (!isPresent(one, context)) return [];
  const attached = connections.filter((connection) => {
    const edge = one.edges[connectionNames.findIndex((name) => name === connection.name)];
    const how = edge === undefined ? 'nowhere' : on(context, edge);
    return isKnown(connection, context) && (how === 'rule' || how === 'both' || (how === 'connection' && !isGuardrail(one.name)));
  });
  const selector = unmanagedNames.includes(one.name) ? undefined : on(context, one.selector);
  const spec = {
    ...valuesOn(one.fields, context),
    ...(context.drawn.dialect === 'hoop' ? valuesOn(one.extra, context) : {}),
    connection_ids: attached.map((connection) => nameOn(connection.name, context)),
    ...(selector === undefined ? {} : { connection_selector: { match_tags: { env: selector }, allow_empty: true } }),
  };
  return [{ kind: isGuardrail(one.name) ? 'GuardrailRule' : 'DataMaskingRule', metadata: metadataOf(one, context), spec }];
}
