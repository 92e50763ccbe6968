import type { DesiredState } from '../../../../model/desired.ts';
import type { Diagnostic } from '../../../../model/diagnostic.ts';
import { textsIn } from '../../../../model/json.ts';
import { fixedObjects } from '../../../../model/live.ts';
import type { PreflightRequest } from '../../../../model/gateway.ts';
import { type Refusal, renamesOf } from '../../../../model/plan/plan.ts';
import { pointer } from '../../../../model/pointer.ts';
import { isMachineIdentity } from '../../../../model/protection/access-objects.ts';
import { kindOf, nameOf, resourceId, type ResourceId } from '../../../../model/resource.ts';
import { diagnosticAt, type ProposedWrite } from '../../rest.ts';
import { checkPathName, isPartOfPath, unreachable } from './name.ts';

const kind = 'Attribute';

/** Reports names that the gateway keeps for itself. */
export function checkAttribute(write: ProposedWrite): readonly Diagnostic[] {
  const owner = ownerOf(write.name);
  if (owner !== undefined && write.creates) {
    return [
      diagnosticAt(write, '', {
        code: 'hoop/managed-attribute',
        message: `the attribute "${write.name}" is managed by ${owner}`,
        hint: 'use another name; the gateway ignores writes of this one, or rejects them',
      }),
    ];
  }
  return checkPathName(write);
}

/** Returns whether the gateway sets and removes the attribute itself: it belongs to a protection profile. */
export function isManagedAttribute(name: string): boolean {
  return name.startsWith('hoop_protection_profile-');
}

/** Returns what manages the attributes with a name; lists do not show those of rulepacks. */
function ownerOf(name: string): string | undefined {
  if (isManagedAttribute(name)) return 'the gateway’s protection profile';
  return name.startsWith('rulepack_') ? 'a rulepack of the gateway' : undefined;
}

/**
 * Reports attributes that the plan deletes although manifests name them, the other links that go with them, and attributes that the gateway would
 * create with a link and never reach again.
 */
export function checkAttributes(proposal: PreflightRequest, writes: readonly ProposedWrite[]): readonly Diagnostic[] {
  // What a live object has exists, also where the token may not list attributes.
  const linked = proposal.live.resources.flatMap(({ spec }) => textsIn(spec['attributes']).map((name) => resourceId(kind, name)));
  const known = new Set([...[...proposal.live.resources, ...proposal.desired.resources].map(({ id }) => id), ...linked]);
  const deleted = proposal.plan.changes.filter(({ id, action }) => kindOf(id) === kind && action === 'delete');
  return [
    ...deleted.flatMap(({ id }) => [...keptNames(id, proposal.desired), ...lostLinks(id, proposal)]),
    ...[...renamesOf(proposal.plan.changes)].flatMap(([former, id]) => formerNames(former, id, proposal.desired)),
    ...writes.flatMap((write) =>
      textsIn(write.spec['attributes'])
        .filter((name) => !isPartOfPath(name) && !known.has(resourceId(kind, name)))
        .map((name) => unreachable(write, name, { path: pointer('attributes', name), what: 'attribute' })),
    ),
  ];
}

/** Refuses to delete attributes whose names no route reaches: other routes of the gateway have created them. */
export function unreachableAttributes({ plan }: PreflightRequest): readonly Refusal[] {
  return plan.changes
    .filter(({ id, action }) => kindOf(id) === kind && action === 'delete' && !isPartOfPath(nameOf(id)))
    .map(({ id }) => ({
      code: 'hoop/name',
      message: `the gateway cannot delete ${id}: none of its routes reaches that name`,
      hint: `list ${id} under released, so that it stays`,
      allowable: false,
      resource: id,
    }));
}

function keptNames(id: ResourceId, desired: DesiredState): readonly Diagnostic[] {
  return namedStill(nameOf(id), desired, {
    loss: 'which the plan deletes with all its links',
    hint: `remove it here, or keep the manifest of ${id} with access_groups: []`,
  });
}

/** Reports manifests that name a renamed attribute by its former name: the gateway renames it everywhere, and then they would differ. */
function formerNames(former: ResourceId, id: ResourceId, desired: DesiredState): readonly Diagnostic[] {
  if (kindOf(id) !== kind || desired.resources.some((one) => one.id === former)) return [];
  return namedStill(nameOf(former), desired, { loss: `which the plan renames to "${nameOf(id)}"`, hint: `name "${nameOf(id)}" here, too` });
}

type NameLoss = { readonly loss: string; readonly hint: string };

function namedStill(name: string, { resources }: DesiredState, { loss, hint }: NameLoss): readonly Diagnostic[] {
  // A successor inherits its attributes without it.
  return resources
    .filter(({ spec, stated }) => stated.has('attributes') && textsIn(spec['attributes']).includes(name))
    .map((resource) => {
      const message = `${resource.id} has the attribute "${name}", ${loss}`;
      return diagnosticAt({ resource }, pointer('attributes', name), { code: 'hoop/attribute-in-use', message, hint });
    });
}

/** Names the objects without a manifest that lose a deleted attribute, and the machines whose credentials outlive it. */
function lostLinks(id: ResourceId, { live, desired }: PreflightRequest): readonly Diagnostic[] {
  const name = nameOf(id);
  const stated = new Set(desired.resources.flatMap(({ key, stated: fields }) => (fields.has('attributes') ? [key] : [])));
  const machines = fixedObjects(live).filter((one) => isMachineIdentity(one.id));
  const found = [
    ...live.resources.filter((one) => !stated.has(one.id) && textsIn(one.spec['attributes']).includes(name)).map((one): string => one.id),
    ...machines
      .filter(({ spec }) => textsIn(spec['attributes']).includes(name))
      .map((machine) => `machine identity ${nameOf(machine.id)}, whose credentials stay`),
  ];
  if (found.length === 0) return [];
  return [
    {
      code: 'hoop/attribute-links',
      severity: 'warning',
      message: `the deletion of ${id} takes it from ${found.toSorted().join(', ')}`,
      hint: 'no manifest states these links',
      resource: id,
    },
  ];
}
